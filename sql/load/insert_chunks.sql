-- Which different chunks are there? In the order of paths and lines, what is current first.
insert into chunks
with
versions as (
    select
        chunk_id,
        arg_min(struct_pack(version, blob, language, ordinal, start_byte, text_hash), version) as origin,
    from version_chunks
    group by chunk_id
),

texts as (
    select chunks.*
    from read_parquet($chunk_shards, filename = true) as chunks
    inner join first_shards using (blob, language, filename)
)

select
    versions.chunk_id,
    file_versions.repository,
    file_versions.path,
    texts.symbol,
    texts.symbol_kind,
    texts.signature,
    texts.signature_token_count,
    texts.token_count,
    texts.text,
    versions.origin.text_hash as text_hash,
from versions
inner join file_versions on file_versions.version = versions.origin.version
inner join texts
    on texts.blob = versions.origin.blob
    and texts.language = versions.origin.language
    and texts.ordinal = versions.origin.ordinal
order by versions.origin.version, versions.origin.start_byte, versions.chunk_id;
