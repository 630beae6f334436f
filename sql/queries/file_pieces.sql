-- Which chunks hold these lines of a file? In the order of the file.
select
    p.start_line,
    p.end_line,
    p.start_byte,
    p.end_byte,
    h.text,
from main.chunks as h
inner join main.snapshot_chunks as p on p.chunk_id = h.chunk_id
where p.snapshot_id = $snapshot_id
    and h.repository = $repository
    and h.path = $path
    and p.end_line >= $first_line
    and p.start_line <= $last_line
order by p.start_byte;
