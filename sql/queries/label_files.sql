-- How many lines has a labelled file in the code of today?
select f.line_count
from main.code as f
where f.path = $path
    and ($repository::varchar is null or f.repository = $repository)
limit 1;
