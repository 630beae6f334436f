-- Which lines does a labelled symbol span in the code of today, what it contains included?
select
    min(c.start_line) as start_line,
    max(c.end_line) as end_line,
from main.code as c
where c.path = $path
    and ($repository::varchar is null or c.repository = $repository)
    and (c.symbol = $symbol or starts_with(c.symbol, $symbol || '.'))
having count(*) > 0;
