-- What changed between two retained snapshots of a repository? One row per chunk added, removed or changed.
-- A commit may be given by its first letters. Chunks are equal if their id is: moved lines are no change. Of what
-- differs, the n-th chunk of a symbol of a path pairs with the n-th one there. A renamed file is removed and added.
create macro main.snapshot_diff(repository, from_commit, to_commit) as table
with
asked as (
    select
        'from' as side,
        repository as wanted,
        from_commit as commit_start,
    union all
    select
        'to' as side,
        repository as wanted,
        to_commit as commit_start,
),

sides as (
    select
        asked.side,
        case
            when count(s.snapshot_id) = 0
            then error(
                'no retained snapshot of ' || coalesce(asked.wanted, 'null') || ' at '
                || coalesce(asked.commit_start, 'null') || '; the table snapshots names them'
            )
            when count(distinct s.commit) > 1
            then error(asked.commit_start || ' begins several commits; give more of it')
            else arg_min(s.snapshot_id, (not s.is_current, s.ref))
        end as snapshot_id,
    from asked
    left join main.snapshots as s
        on s.repository = asked.wanted
        and starts_with(s.commit, asked.commit_start)
    group by asked.side, asked.wanted, asked.commit_start
),

places as (
    select
        sides.side,
        p.chunk_id,
        c.path,
        c.symbol,
        p.start_line,
        p.end_line,
        p.start_byte,
    from sides
    inner join main.snapshot_chunks as p using (snapshot_id)
    inner join main.chunks as c using (chunk_id)
),

differing as (
    select
        *,
        row_number() over (partition by side, path, symbol order by start_byte, chunk_id) as occurrence,
    from places
    where chunk_id in (select chunk_id from places group by chunk_id having count(distinct side) = 1)
),

removed as (
    select * from differing where side = 'from'
),

added as (
    select * from differing where side = 'to'
)

select
    case
        when removed.chunk_id is null then 'added'
        when added.chunk_id is null then 'removed'
        else 'changed'
    end as change,
    coalesce(added.path, removed.path) as path,
    coalesce(added.symbol, removed.symbol) as symbol,
    removed.chunk_id as from_chunk_id,
    removed.start_line as from_start_line,
    removed.end_line as from_end_line,
    added.chunk_id as to_chunk_id,
    added.start_line as to_start_line,
    added.end_line as to_end_line,
from removed
full join added
    on added.path = removed.path
    and added.symbol = removed.symbol
    and added.occurrence = removed.occurrence
order by path, coalesce(to_start_line, from_start_line), symbol, change;
comment on macro table main.snapshot_diff is 'Chunks added, removed or changed between two retained snapshots of a repository.';
