-- Current snapshots whose chunks searches do not see, or see too often.
select s.snapshot_id
from main.snapshots as s
where (select count(*) from main.snapshot_chunks as p where p.snapshot_id = s.snapshot_id and s.is_current)
    <> (select count(*) from main.current_chunks as c where c.snapshot_id = s.snapshot_id);
