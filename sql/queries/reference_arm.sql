-- The chunks that use what a query names, as an arm of the library's hybrid search.
select main.reference_arm(
    $query, weight := $weight, repository := $repository, ref := $ref, language := $language, kind := $kind,
    path := $path, path_glob := $path_glob, symbol := $symbol, since := $since
) as arm;
