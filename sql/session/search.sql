-- Which chunks answer a query best? search_hybrid with the session's own model.
create temp macro search(
    query, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null, recency := 0
) as table
select *
from main.search_hybrid(
    query, embed(query), k := k, repository := repository, ref := ref, language := language, kind := kind,
    path := path, path_glob := path_glob, symbol := symbol, since := since,
    recency := recency
)
order by rank;
