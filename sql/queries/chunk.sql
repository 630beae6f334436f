-- What is one chunk, and where does it stand? Under the given ref, else the default ref, else the first that has it.
select
    c.chunk_id,
    c.repository,
    c.ref,
    s.commit,
    c.path,
    c.start_line,
    c.end_line,
    c.symbol,
    h.symbol_kind,
    c.kind,
    c.language,
    h.signature,
    h.text,
    main.line_url(r.remote_url, s.commit, c.path, c.start_line, c.end_line) as url,
    c.snapshot_id,
    f.line_count,
    f.last_commit_at,
    f.last_author,
from main.current_chunks as c
inner join main.chunks as h on h.chunk_id = c.chunk_id
inner join main.snapshots as s on s.snapshot_id = c.snapshot_id
inner join main.repositories as r on r.repository = c.repository
left join main.files as f
    on f.snapshot_id = c.snapshot_id
    and f.path = c.path
where c.chunk_id = $chunk_id
    and ($ref is null or c.ref = $ref)
order by c.entry
limit 1;
