-- Which chunks does a store that read an earlier run have to forget? `chunk_id` null: all that it has of the repository,
-- since what that run held of it is not retained any more.
with
earlier_snapshots as (
    select
        unnest($earlier_repositories::varchar[]) as repository,
        unnest($earlier_snapshots::varchar[]) as snapshot_id,
),

current_ids as (
    select c.chunk_id,
    from main.current_chunks as c
    where c.is_default_ref
),

removed as (
    select
        null as chunk_id,
        e.repository,
        null as path,
        null as symbol,
    from earlier_snapshots as e
    anti join main.snapshots as s on s.snapshot_id = e.snapshot_id
    union all
    select
        h.chunk_id,
        h.repository,
        h.path,
        h.symbol,
    from main.snapshot_chunks as p
    inner join earlier_snapshots as e on e.snapshot_id = p.snapshot_id
    inner join main.chunks as h on h.chunk_id = p.chunk_id
    anti join current_ids as c on c.chunk_id = p.chunk_id
)

select
    chunk_id,
    repository,
    path,
    symbol,
    true as is_removed,
from removed
order by repository, path nulls first, chunk_id;
