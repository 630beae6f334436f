-- In which files do these texts stand? For the failures of texts that could not be embedded.
with
files as (
    select
        parse_filename(filename, true, 'forward_slash') as snapshot_id,
        path,
        blob,
        language,
    from read_parquet($snapshot_shards, filename = true)
    where skip_reason is null
        and error is null
),

chunks as (
    select * from read_parquet($chunk_shards)
    where ordinal >= 0
)

select distinct
    files.snapshot_id,
    files.path,
    files.blob,
    md5(embedded_text(path, symbol, signature, is_continuation, text)) as text_hash,
from chunks
inner join files using (blob, language)
where md5(embedded_text(path, symbol, signature, is_continuation, text)) in (select unnest($text_hashes))
order by all;
