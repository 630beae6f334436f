-- Chunks that stand in no snapshot.
select chunk_id
from main.chunks
where chunk_id not in (select snapshot_chunks.chunk_id from main.snapshot_chunks);
