-- Which chunks does each content of each path have, and what are their ids?
-- The id is over repository, path, symbol, text and the occurrence among equals in file order, so lines moving
-- above a chunk do not change it. A continuation's text counts with the signature that it is shown under.
create temp table version_chunks as
with
keys as (
    select
        file_versions.version,
        file_versions.precedence,
        file_versions.path,
        chunks.blob,
        chunks.language,
        chunks.ordinal,
        chunks.is_continuation,
        chunks.start_line,
        chunks.end_line,
        chunks.start_byte,
        chunks.end_byte,
        md5(embedded_text(file_versions.path, symbol, signature, is_continuation, text)) as text_hash,
        md5(concat_ws(
            chr(31),
            file_versions.repository,
            file_versions.path,
            chunks.symbol,
            case when chunks.is_continuation then chunks.signature end,
            chunks.text
        )) as content_key,
    from read_parquet($chunk_shards, filename = true) as chunks
    inner join first_shards using (blob, language, filename)
    inner join file_versions using (blob, language)
    where chunks.ordinal >= 0
),

counted as (
    select
        *,
        row_number() over (partition by version, content_key order by ordinal) as occurrence,
    from keys
)

select
    (md5_number_lower(content_key || ' ' || occurrence) >> 1)::bigint as chunk_id,
    * exclude (content_key, occurrence),
from counted;
