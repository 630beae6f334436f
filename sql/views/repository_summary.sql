-- What does the index hold of each repository's default ref?
create view main.repository_summary as
with
paths as (
    select
        i.repository,
        count(*) filter (where i.decision = 'indexed') as indexed_file_count,
        count(*) filter (where i.decision = 'skipped') as skipped_file_count,
        count(*) filter (where i.decision = 'failed') as failed_file_count,
        sum(i.size_bytes) filter (where i.decision = 'indexed') as indexed_bytes,
    from main.inventory as i
    group by i.repository
),

places as (
    select
        c.repository,
        count(*) as chunk_count,
    from main.current_chunks as c
    where c.is_default_ref
    group by c.repository
)

select
    r.repository,
    s.ref,
    s.commit,
    s.committed_at,
    s.indexed_at,
    coalesce(p.indexed_file_count, 0) as indexed_file_count,
    coalesce(p.skipped_file_count, 0) as skipped_file_count,
    coalesce(p.failed_file_count, 0) as failed_file_count,
    coalesce(p.indexed_bytes, 0) as indexed_bytes,
    coalesce(c.chunk_count, 0) as chunk_count,
from main.repositories as r
left join main.snapshots as s
    on s.repository = r.repository
    and s.ref = r.default_ref
    and s.is_current
left join paths as p on p.repository = r.repository
left join places as c on c.repository = r.repository
order by r.repository;
comment on view main.repository_summary is 'Files, bytes and chunks of each repository''s default ref.';
