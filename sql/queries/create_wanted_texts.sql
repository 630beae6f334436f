-- Which different texts do these snapshots need vectors of, and which of them have one?
-- One row per text_hash with one chunk and file label that give the text; the text itself is not kept.
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

chunks as (
    select
        blob,
        language,
        ordinal,
        symbol,
        signature,
        is_continuation,
        token_count,
        text,
    from read_parquet($chunk_shards)
    where ordinal >= 0
),

texts as (
    select
        md5(embedded_text(files.label, symbol, signature, is_continuation, text)) as text_hash,
        struct_pack(blob := blob, language := language, ordinal := ordinal, label := files.label) as origin,
        token_count,
    from chunks
    inner join files using (blob, language)
),

final as (
    select
        text_hash,
        min(origin) as origin,
        max(token_count) as token_count,
        text_hash not in (select text_hash from embedded_hashes) as is_missing,
    from texts
    group by text_hash
)

select
    text_hash,
    origin.blob as blob,
    origin.language as language,
    origin.ordinal as ordinal,
    origin.label as label,
    token_count,
    is_missing,
from final;
