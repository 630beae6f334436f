-- Which texts of current snapshots have a vector, and in which order are the vectors kept?
create temp table embedded_hashes as
with
wanted as (
    select
        chunks.text_hash,
        min(chunks.rowid) as first_chunk,
    from chunks
    where chunks.chunk_id in (
        select version_chunks.chunk_id from version_chunks where version_chunks.precedence < 2
    )
    group by chunks.text_hash
),

embedded as (
    select
        text_hash,
        min(struct_pack(filename, file_row_number)) as place,
    from read_parquet($embedding_shards, filename = true, file_row_number = true)
    where text_hash in (select wanted.text_hash from wanted)
    group by text_hash
)

select
    text_hash,
    embedded.place.filename as filename,
    embedded.place.file_row_number as file_row_number,
    row_number() over (order by wanted.first_chunk) - 1 as embedding_row,
from wanted
inner join embedded using (text_hash);
