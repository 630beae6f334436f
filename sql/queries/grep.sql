-- Which lines does a regular expression match, in the chunks that pass the filters?
select
    repository,
    path,
    line,
    symbol,
    text,
from main.grep(
    $pattern, k := $k, repository := $repository, ref := $ref, language := $language, kind := $kind, path := $path,
    path_glob := $path_glob, symbol := $symbol, since := $since
)
order by all;
