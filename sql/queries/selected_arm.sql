-- The chunks of the files picked for a query, as an arm of the library's hybrid search.
select main.selected_arm(
    $paths, $query_embedding, repository := $repository, ref := $ref, language := $language, kind := $kind,
    path := $path, path_glob := $path_glob, symbol := $symbol, since := $since
) as arm;
