-- Which repositories and refs can a search be limited to?
select distinct
    repository,
    ref,
from main.snapshots
where is_current
order by all;
