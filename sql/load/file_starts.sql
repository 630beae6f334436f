-- How often does a reader begin at each file?
select start
from file_nodes
order by number;
