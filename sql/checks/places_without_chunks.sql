-- Places whose chunk is missing.
select
    snapshot_id,
    chunk_id,
from main.snapshot_chunks
where chunk_id not in (select chunks.chunk_id from main.chunks);
