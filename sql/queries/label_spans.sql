-- Which chunks of today hold a labelled symbol, a part of it, or what it is defined in?
select
    c.symbol,
    c.language,
    c.text,
    c.start_line,
    c.end_line,
from main.code as c
where c.path = $path
    and ($repository::varchar is null or c.repository = $repository)
    and (
        c.symbol = $symbol
        or starts_with(c.symbol, $symbol || '.')
        or starts_with($symbol, c.symbol || '.')
    )
order by c.start_byte;
