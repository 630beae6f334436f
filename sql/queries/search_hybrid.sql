-- The hybrid search of the library.
select *
from main.search_hybrid(
    $query, $query_embedding, k := $k, repository := $repository, ref := $ref, language := $language, kind := $kind,
    path := $path, path_glob := $path_glob, symbol := $symbol
)
order by rank;
