-- Which files of current snapshots may hold references, and by which names do imports find them?
-- `place` is the path without its ending, and without the name of a package's own file (`__init__`, `index`).
create temp table reference_files as
with
paths as (
    select
        snapshots.snapshot_id,
        snapshots.repository,
        files.path,
        files.kind,
        file_versions.version,
        case when files.language in ('typescript', 'tsx') then 'javascript' else files.language end as family,
        regexp_replace(files.path, '[^/]*$', '') as folder,
        regexp_replace(
            regexp_replace(files.path, '(\.d)?\.[^./]*$', ''), '(^|/)(__init__|index)$', ''
        ) as place,
        regexp_matches(files.path, '(^|/)(__init__|index)\.[^/]*$') as is_package,
    from files
    inner join snapshots using (snapshot_id)
    inner join file_versions using (repository, path, blob, language)
    where snapshots.is_current
        and files.language in ('python', 'javascript', 'typescript', 'tsx', 'go', 'java')
),

-- A folder of Python without `__init__.py` is where module names begin: the deepest one above a file.
packages as (
    select distinct
        snapshot_id,
        folder,
    from paths
    where family = 'python'
        and is_package
),

outside as (
    select
        paths.snapshot_id,
        paths.path,
        max(length(above.folder)) as root_length,
    from paths
    cross join lateral (
        select unnest(list_transform(
            range(0, length(paths.folder) - length(replace(paths.folder, '/', '')) + 1),
            lambda depth: array_to_string(string_split(paths.folder, '/')[1:depth], '/') || if(depth > 0, '/', '')
        )) as folder
    ) as above
    left join packages
        on packages.snapshot_id = paths.snapshot_id
        and packages.folder = above.folder
    where paths.family = 'python'
        and packages.folder is null
    group by paths.snapshot_id, paths.path
)

select
    paths.*,
    case
        when paths.family = 'python'
        then replace(substr(paths.place, coalesce(outside.root_length, 0) + 1), '/', '.')
    end as module,
from paths
left join outside using (snapshot_id, path);
