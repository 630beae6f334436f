-- What is one chunk, and where does it stand? Under the given ref, else the default ref, else the first that has it.
select
    p.chunk_id,
    p.repository,
    p.ref,
    p.commit,
    p.path,
    p.start_line,
    p.end_line,
    p.symbol,
    p.symbol_kind,
    p.kind,
    p.language,
    p.signature,
    p.text,
    p.url,
    c.snapshot_id,
    f.line_count,
    f.last_commit_at,
    f.last_author,
from main.shown_chunks((select list(x.entry) from main.current_chunks as x where x.chunk_id = $chunk_id)) as p
inner join main.current_chunks as c on c.entry = p.entry
left join main.files as f
    on f.snapshot_id = c.snapshot_id
    and f.path = c.path
where $ref is null
    or p.ref = $ref
order by p.entry
limit 1;
