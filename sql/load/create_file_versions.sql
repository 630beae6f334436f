-- Which contents did each path have? Snapshots that share a content share its chunks.
-- `precedence` is 0 for what default refs show now, 1 for other current snapshots, 2 for older ones.
create temp table file_versions as
with
paths as (
    select
        snapshots.repository,
        files.path,
        files.blob,
        files.language,
        case
            when not snapshots.is_current then 2
            when snapshots.ref = repositories.default_ref then 0
            else 1
        end as precedence,
    from files
    inner join snapshots using (snapshot_id)
    inner join repositories using (repository)
)

select
    row_number() over (order by min(precedence), repository, path, blob, language) as version,
    repository,
    path,
    blob,
    language,
    min(precedence) as precedence,
from paths
group by repository, path, blob, language;
