-- Which files can be central? Those of current snapshots, by number; a reader begins at source files, and half as
-- often at tests and examples, which show what is meant to be used.
create temp table file_nodes as
select
    row_number() over (order by files.snapshot_id, files.path) - 1 as number,
    files.snapshot_id,
    files.path,
    case files.kind when 'source' then 1 when 'test' then 0.5 when 'example' then 0.5 else 0 end::double as start,
from files
inner join snapshots using (snapshot_id)
where snapshots.is_current;
