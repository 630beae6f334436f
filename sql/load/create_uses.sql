-- Which uses of names do the files of current snapshots hold, and which import stands behind each?
create temp table uses as
with
listed as (
    select
        chunks.blob,
        chunks.language,
        chunks.ordinal,
        unnest(chunks.symbol_references) as entry,
    from read_parquet($chunk_shards, filename = true) as chunks
    inner join first_shards using (blob, language, filename)
),

written as (
    select
        f.snapshot_id,
        f.path,
        f.folder,
        f.family,
        listed.entry.kind as kind,
        listed.entry.name as name,
        listed.entry.qualifier as qualifier,
        listed.entry.symbol as symbol,
        listed.entry.line as line,
        version_chunks.chunk_id,
    from listed
    inner join version_chunks using (blob, language, ordinal)
    inner join reference_files as f using (version)
)

select
    row_number() over (order by w.snapshot_id, w.path, w.line, w.name, w.qualifier, w.kind) as number,
    w.*,
    coalesce(whole.origin, root.origin) as origin,
    -- What is left of the qualifier behind the imported name: `api.Session` of `requests.api.Session.get`.
    case
        when w.qualifier is null or whole.origin is not null then ''
        else substr(w.qualifier, length(split_part(w.qualifier, '.', 1)) + 2)
    end as inner_qualifier,
    w.qualifier in ('self', 'cls', 'super()', 'this', 'super') as is_own,
from written as w
left join bindings as whole
    on whole.snapshot_id = w.snapshot_id
    and whole.path = w.path
    and whole.local_name = coalesce(w.qualifier, w.name)
left join bindings as root
    on root.snapshot_id = w.snapshot_id
    and root.path = w.path
    and root.local_name = split_part(w.qualifier, '.', 1);
