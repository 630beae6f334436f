-- How many chunks has each current snapshot?
select
    snapshot_id,
    count(*) as chunk_count,
from main.current_chunks
group by snapshot_id;
