-- What does each file of a current snapshot define? Every definition, also those inside a chunk of something larger.
insert into symbols
with
listed as (
    select
        chunks.blob,
        chunks.language,
        chunks.ordinal,
        unnest(chunks.symbols) as entry,
    from read_parquet($chunk_shards, filename = true) as chunks
    inner join first_shards using (blob, language, filename)
)

select
    reference_files.snapshot_id,
    reference_files.path,
    listed.entry.name as name,
    listed.entry.symbol as symbol,
    listed.entry.symbol_kind as symbol_kind,
    listed.entry.start_line as start_line,
    listed.entry.end_line as end_line,
    version_chunks.chunk_id,
from listed
inner join version_chunks using (blob, language, ordinal)
inner join reference_files using (version)
order by reference_files.snapshot_id, reference_files.path, start_line, symbol;
