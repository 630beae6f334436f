-- Which chunks are nearest to a query's vector? Exact cosine similarity.
create macro main.search_vector(
    query_embedding, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as table
with
hits as (
    select * from main.vector_hits(
        query_embedding, k, null, repository, ref, language, kind, path, path_glob, symbol, since
    )
)

select
    v.rank,
    v.score,
    p.* exclude (entry),
    null::bigint as text_rank,
    null::double as text_score,
    v.rank as vector_rank,
    v.score as vector_score,
from hits as v
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = v.entry
order by v.rank;
comment on macro table main.search_vector is 'The k nearest chunks by exact cosine similarity; filters apply before k.';
