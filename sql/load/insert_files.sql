-- Which files do the retained snapshots hold? Whether a file has syntax errors is known to its chunk rows.
insert into files
with
paths as (
    select
        parse_filename(filename, true, 'forward_slash') as snapshot_id,
        *,
    from read_parquet($snapshot_shards, filename = true)
    where skip_reason is null
        and error is null
),

errors as (
    select
        blob,
        language,
        bool_or(has_syntax_error) as has_syntax_error,
    from read_parquet($chunk_shards)
    group by blob, language
)

select
    paths.snapshot_id,
    paths.path,
    paths.blob,
    paths.size_bytes,
    paths.line_count,
    paths.language,
    paths.kind,
    paths.encoding,
    coalesce(errors.has_syntax_error, false) as has_syntax_error,
    paths.last_commit_at,
    paths.last_author,
from paths
left join errors using (blob, language)
order by paths.snapshot_id, paths.path;
