-- Which indexed files make the most chunks?
create view main.largest_files as
select
    c.repository,
    c.path,
    c.kind,
    c.language,
    any_value(c.size_bytes) as size_bytes,
    any_value(c.line_count) as line_count,
    count(*) as chunk_count,
from main.code as c
group by c.repository, c.path, c.kind, c.language
order by chunk_count desc, c.repository, c.path;
comment on view main.largest_files is 'Indexed files of the default refs, the one with most chunks first.';
