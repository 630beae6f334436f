-- By which names can an import mean a file or, with a final `/`, a folder of its repository? The shortest path counts.
create temp table module_names as
with
go_modules as (
    select
        version_chunks.path,
        snapshot_chunks.snapshot_id,
        regexp_extract(chunks.text, '(?m)^module[ \t]+"?([^\s"]+)', 1) as module,
    from snapshot_chunks
    inner join chunks using (chunk_id)
    inner join version_chunks using (chunk_id)
    where parse_filename(version_chunks.path, false, 'forward_slash') = 'go.mod'
),

go_folders as (
    select distinct
        f.snapshot_id,
        f.folder,
        g.module || rtrim('/' || substr(f.folder, length(regexp_replace(g.path, '[^/]*$', '')) + 1), '/') as name,
    from reference_files as f
    inner join go_modules as g
        on g.snapshot_id = f.snapshot_id
        and starts_with(f.folder, regexp_replace(g.path, '[^/]*$', ''))
    where f.family = 'go'
        and g.module <> ''
),

java_names as (
    select
        f.snapshot_id,
        f.path,
        string_split(f.place, '/') as parts,
    from reference_files as f
    where f.family = 'java'
),

names as (
    select
        snapshot_id,
        'python' as family,
        module as name,
        path as target,
    from reference_files
    where family = 'python'
    union all
    select
        snapshot_id,
        family,
        '/' || place as name,
        path as target,
    from reference_files
    where family in ('python', 'javascript')
    union all
    select
        snapshot_id,
        'go' as family,
        name,
        folder as target,
    from go_folders
    union all
    select
        j.snapshot_id,
        'java' as family,
        array_to_string(j.parts[start:], '.') as name,
        j.path as target,
    from java_names as j
    cross join lateral (select unnest(range(1, len(j.parts))) as start) as s
)

select
    snapshot_id,
    family,
    name,
    arg_min(target, (length(target), target)) as target,
from names
where name <> ''
group by snapshot_id, family, name;
