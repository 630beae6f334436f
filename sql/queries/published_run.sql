-- Which run built this database?
select run_id
from main.runs
order by sequence desc
limit 1;
