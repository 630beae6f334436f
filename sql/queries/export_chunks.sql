-- Which chunks does an export hold? Those of the default refs but what a store that read an earlier run has already.
-- The commit alone makes no chunk another one: the earlier citation still shows its lines.
with
earlier_snapshots as (
    select unnest($earlier_snapshots::varchar[]) as snapshot_id,
),

incomplete_files as (
    select
        unnest($incomplete_repositories::varchar[]) as repository,
        unnest($incomplete_paths::varchar[]) as path,
),

stored as (
    select
        p.chunk_id,
        p.start_line,
        p.end_line,
        s.ref,
        f.language,
        f.kind,
    from main.snapshot_chunks as p
    inner join earlier_snapshots as e on e.snapshot_id = p.snapshot_id
    inner join main.snapshots as s on s.snapshot_id = p.snapshot_id
    inner join main.chunks as h on h.chunk_id = p.chunk_id
    inner join main.files as f
        on f.snapshot_id = p.snapshot_id
        and f.path = h.path
    cross join main.models as m
    where m.model_id = $earlier_model
        and not exists (
            from incomplete_files as i
            where i.repository = h.repository
                and i.path in ('.', h.path)
        )
),

wanted as (
    select
        c.entry,
        c.embedding_row,
    from main.current_chunks as c
    where c.is_default_ref
        and not exists (
            from stored as t
            where t.chunk_id = c.chunk_id
                and t.start_line = c.start_line
                and t.end_line = c.end_line
                and t.ref = c.ref
                and t.language = c.language
                and t.kind = c.kind
        )
)

select
    p.* exclude (entry),
    h.text_hash,
    m.model_id,
    false as is_removed,
    v.embedding as vector,
from wanted as w
inner join main.shown_chunks((select list(x.entry) from wanted as x)) as p on p.entry = w.entry
inner join main.chunks as h on h.chunk_id = p.chunk_id
left join main.embeddings as v on v.rowid = w.embedding_row
cross join main.models as m
order by w.entry;
