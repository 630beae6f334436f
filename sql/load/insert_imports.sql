-- What does each file of a current snapshot import, and which file or folder of its repository is meant?
insert into imports
with
listed as (
    select
        chunks.blob,
        chunks.language,
        chunks.ordinal,
        unnest(chunks.imports) as entry,
    from read_parquet($chunk_shards, filename = true) as chunks
    inner join first_shards using (blob, language, filename)
),

written as (
    select
        f.snapshot_id,
        f.path,
        f.family,
        f.folder,
        listed.entry.line as line,
        listed.entry.module as module,
        listed.entry.name as name,
        listed.entry.local_name as local_name,
        case
            when f.family = 'python' then length(regexp_extract(listed.entry.module, '^\.+')) - 1
            else (length(listed.entry.module) - length(replace(listed.entry.module, '../', ''))) // 3
        end as levels,
        case
            when f.family = 'python'
            then replace(regexp_replace(listed.entry.module, '^\.+', ''), '.', '/')
            else regexp_replace(
                regexp_replace(listed.entry.module, '^(\.\.?(/|$))+', ''), '(^|/)?(index)?(\.[cm]?[jt]sx?)?$', ''
            )
        end as rest,
        starts_with(listed.entry.module, '.') as is_relative,
    from listed
    inner join version_chunks using (blob, language, ordinal)
    inner join reference_files as f using (version)
),

keyed as (
    select
        *,
        case
            when is_relative
            then '/' || array_to_string(
                list_filter(
                    string_split(folder, '/')[1:greatest(len(string_split(folder, '/')) - 1 - levels, 0)]
                    || string_split(rest, '/'),
                    lambda part: part <> ''
                ),
                '/'
            )
            else module
        end as key,
    from written
)

select
    k.snapshot_id,
    k.path,
    k.line,
    k.module,
    k.name,
    k.local_name,
    coalesce(m.target, n.target) as target_path,
from keyed as k
left join module_names as m
    on m.snapshot_id = k.snapshot_id
    and m.family = k.family
    and m.name = k.key || if(k.is_relative, '/', '.') || k.name
    and k.family in ('python', 'java')
left join module_names as n
    on n.snapshot_id = k.snapshot_id
    and n.family = k.family
    and n.name = k.key
order by k.snapshot_id, k.path, k.line, k.module, k.name, k.local_name;
