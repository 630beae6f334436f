-- Current chunks with neither a vector nor a failure of their file.
select c.chunk_id
from main.current_chunks as c
where c.embedding_row is null
    and not exists (
        select 1
        from main.failures as x
        where x.repository = c.repository
            and x.path = c.path
    );
