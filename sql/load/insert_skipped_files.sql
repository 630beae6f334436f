-- Which paths of the retained snapshots did a rule leave out?
insert into skipped_files
select
    parse_filename(filename, true, 'forward_slash') as snapshot_id,
    path,
    size_bytes,
    skip_reason,
    skip_rule,
from read_parquet($snapshot_shards, filename = true)
where skip_reason is not null
order by snapshot_id, path;
