-- Which chunks answer a query best by words and meaning together? Reciprocal rank fusion (Cormack et al. 2009, k = 60).
create macro main.search_hybrid(
    query, query_embedding, k := 10, repository := null, ref := null, language := null, kind := null,
    path := null, path_glob := null, symbol := null
) as table
with
fused as (
    select
        coalesce(t.entry, v.entry) as entry,
        coalesce(t.chunk_id, v.chunk_id) as chunk_id,
        round(coalesce(1 / (60 + t.rank), 0) + coalesce(1 / (60 + v.rank), 0), 8) as score,
        t.rank as text_rank,
        t.score as text_score,
        v.rank as vector_rank,
        v.score as vector_score,
    from main.text_hits(
        query, greatest(100, 3 * k), repository, ref, language, kind, path, path_glob, symbol
    ) as t
    full join main.vector_hits(
        query_embedding, greatest(100, 3 * k), repository, ref, language, kind, path, path_glob, symbol
    ) as v
        on v.entry = t.entry
),

best as (
    select * from fused
    order by score desc, chunk_id
    limit k
)

select
    row_number() over (order by b.score desc, b.chunk_id) as rank,
    b.score,
    p.* exclude (entry),
    b.text_rank,
    b.text_score,
    b.vector_rank,
    b.vector_score,
from best as b
inner join main.chunk_places as p on p.entry = b.entry
order by 1;
comment on macro table main.search_hybrid is 'The k best chunks by BM25 and cosine similarity together; filters apply before k.';
