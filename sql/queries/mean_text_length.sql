-- How long is the text of a chunk on average, in characters?
select coalesce(avg(length(chunks.text)), 1)::double as mean_length
from chunks
where chunk_id in (select current_chunks.chunk_id from current_chunks);
