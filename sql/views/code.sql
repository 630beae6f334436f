-- What is in the code of today? One row per chunk of the current snapshot of each repository's default ref.
create view main.code as
select
    h.chunk_id,
    h.repository,
    s.ref,
    s.commit,
    h.path,
    p.start_line,
    p.end_line,
    h.symbol,
    h.symbol_kind,
    f.kind,
    f.language,
    h.signature,
    h.signature_token_count,
    h.token_count,
    h.text,
    h.text_hash,
    main.line_url(r.remote_url, s.commit, h.path, p.start_line, p.end_line) as url,
    s.snapshot_id,
    p.blob,
    p.start_byte,
    p.end_byte,
    f.size_bytes,
    f.line_count,
    f.encoding,
    f.has_syntax_error,
    f.last_commit_at,
    f.last_author,
    s.committed_at,
    s.indexed_at,
from main.repositories as r
inner join main.snapshots as s
    on s.repository = r.repository
    and s.ref = r.default_ref
    and s.is_current
inner join main.snapshot_chunks as p on p.snapshot_id = s.snapshot_id
inner join main.chunks as h on h.chunk_id = p.chunk_id
inner join main.files as f
    on f.snapshot_id = s.snapshot_id
    and f.path = h.path;
comment on view main.code is 'One row per chunk of the current snapshot of each default ref, with its file and snapshot.';
