-- The text search of the library.
select *
from main.search_text(
    $query, k := $k, repository := $repository, ref := $ref, language := $language, kind := $kind,
    path := $path, path_glob := $path_glob, symbol := $symbol, since := $since
)
order by rank;
