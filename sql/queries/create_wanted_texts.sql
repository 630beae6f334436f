-- Which different texts do these snapshots need vectors of, and which of them have one?
-- One row per text_hash with one physical row (shard, row number) and file label that give the text: the text
-- itself is not kept, and a chunk that two runs stored twice still counts once.
create temp table wanted_texts as
with
files as (
    select distinct
        blob,
        language,
        file_label(path) as label,
    from read_parquet($snapshot_shards)
    where skip_reason is null
        and error is null
        and blob is not null
),

texts as (
    select
        md5(embedded_text(files.label, symbol, signature, is_continuation, text)) as text_hash,
        struct_pack(
            filename := filename,
            file_row_number := file_row_number,
            label := files.label,
            language := language
        ) as origin,
        token_count,
    from read_parquet($chunk_shards, filename = true, file_row_number = true)
    inner join files using (blob, language)
    where ordinal >= 0
),

final as (
    select
        text_hash,
        min(origin) as origin,
        max(token_count) as token_count,
        text_hash in (select text_hash from embedded_hashes) as is_embedded,
    from texts
    group by text_hash
)

select
    text_hash,
    origin.filename as filename,
    origin.file_row_number as file_row_number,
    origin.label as label,
    origin.language as language,
    token_count,
    is_embedded,
from final;
