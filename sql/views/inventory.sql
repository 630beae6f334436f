-- What became of each path? One row per path of the current snapshot of each repository's default ref.
create view main.inventory as
with
shown as (
    select
        s.snapshot_id,
        s.repository,
        s.ref,
    from main.repositories as r
    inner join main.snapshots as s
        on s.repository = r.repository
        and s.ref = r.default_ref
        and s.is_current
),

failed as (
    select distinct
        x.repository,
        x.path,
    from main.failures as x
    where x.run_id = (select arg_max(u.run_id, u.sequence) from main.runs as u)
)

select
    s.repository,
    s.ref,
    f.path,
    case when x.path is null then 'indexed' else 'failed' end as decision,
    f.kind,
    f.language,
    f.size_bytes,
    null::varchar as skip_reason,
    null::varchar as skip_rule,
from shown as s
inner join main.files as f on f.snapshot_id = s.snapshot_id
left join failed as x
    on x.repository = s.repository
    and x.path = f.path
union all
select
    s.repository,
    s.ref,
    k.path,
    'skipped' as decision,
    null::varchar as kind,
    null::varchar as language,
    k.size_bytes,
    k.skip_reason,
    k.skip_rule,
from shown as s
inner join main.skipped_files as k on k.snapshot_id = s.snapshot_id
union all
select
    s.repository,
    s.ref,
    u.path,
    'failed' as decision,
    null::varchar as kind,
    null::varchar as language,
    u.size_bytes,
    null::varchar as skip_reason,
    null::varchar as skip_rule,
from shown as s
inner join main.unreadable_files as u on u.snapshot_id = s.snapshot_id;
comment on view main.inventory is
    'One row per path of the current snapshot of each default ref; decision is indexed, skipped or failed.';
