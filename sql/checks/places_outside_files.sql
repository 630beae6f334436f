-- Places that are no lines of their file, or of no file.
select
    p.snapshot_id,
    h.path,
    p.start_line,
    p.end_line,
from main.snapshot_chunks as p
inner join main.chunks as h on h.chunk_id = p.chunk_id
left join main.files as f
    on f.snapshot_id = p.snapshot_id
    and f.path = h.path
where f.path is null
    or p.start_line < 1
    or p.end_line < p.start_line
    or p.end_line > f.line_count;
