-- Which different texts does each of these snapshots need vectors of?
-- One row per (position of the snapshot, text_hash) with one physical row (shard, row number) and file label that
-- give the text: the text itself is not kept, and a chunk that two runs stored twice still counts once.
create temp table needed_texts as
with
files as (
    select distinct
        list_position($snapshot_shards, filename) as position,
        blob,
        language,
        file_label(path) as label,
    from read_parquet($snapshot_shards, filename = true)
    where skip_reason is null
        and error is null
        and blob is not null
),

chunks as (
    select * from read_parquet($chunk_shards, filename = true, file_row_number = true)
    where ordinal >= 0
),

texts as (
    select
        files.position,
        md5(embedded_text(files.label, symbol, signature, is_continuation, text)) as text_hash,
        struct_pack(
            filename := chunks.filename,
            file_row_number := file_row_number,
            label := files.label,
            language := language
        ) as origin,
        token_count,
    from chunks
    inner join files using (blob, language)
)

select
    position,
    text_hash,
    min(origin) as origin,
    max(token_count) as token_count,
from texts
group by position, text_hash;
