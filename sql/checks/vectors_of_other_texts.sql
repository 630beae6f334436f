-- Chunks that point to the vector of another text.
select c.chunk_id
from main.current_chunks as c
inner join main.chunks as h on h.chunk_id = c.chunk_id
left join main.embeddings as e on e.rowid = c.embedding_row
where c.embedding_row is not null
    and e.text_hash is distinct from h.text_hash;
