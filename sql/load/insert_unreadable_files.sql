-- Which paths of the retained snapshots could not be read?
insert into unreadable_files
select
    parse_filename(filename, true, 'forward_slash') as snapshot_id,
    path,
    size_bytes,
    error,
from read_parquet($snapshot_shards, filename = true)
where skip_reason is null
    and error is not null
order by snapshot_id, path;
