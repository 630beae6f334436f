-- Which chunks answer a query best by words and meaning together, by how new they are if `recency` is above 0, and by
-- what other arms give, such as `reference_arm(query)`?
create macro main.search_hybrid(
    query, query_embedding, k := 10, repository := null, ref := null, language := null, kind := null,
    path := null, path_glob := null, symbol := null, since := null, recency := 0, arms := null
) as table
with
hits as (
    select * from main.hybrid_hits(
        query, query_embedding, k, repository, ref, language, kind, path, path_glob, symbol, since, recency, arms
    )
)

select
    b.rank,
    b.score,
    p.* exclude (entry),
    b.text_rank,
    b.text_score,
    b.vector_rank,
    b.vector_score,
from hits as b
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = b.entry
order by b.rank;
comment on macro table main.search_hybrid is
    'The k best chunks by BM25, cosine similarity and other arms together, then ranking rules; filters apply before k.';
