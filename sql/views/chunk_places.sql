-- What does a search show of each chunk in each ref?
create view main.chunk_places as
select
    c.entry,
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
from main.current_chunks as c
inner join main.chunks as h on h.chunk_id = c.chunk_id
inner join main.snapshots as s on s.snapshot_id = c.snapshot_id
inner join main.repositories as r on r.repository = c.repository;
comment on view main.chunk_places is 'The columns that a search shows, one row per chunk and ref.';
