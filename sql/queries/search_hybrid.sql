-- The hybrid search of the library: with the place of each hit by recency, if that was asked for.
with
hits as materialized (
    select * from main.hybrid_hits(
        $query, $query_embedding, $k, $repository, $ref, $language, $kind, $path, $path_glob, $symbol, $since, $recency
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
    b.recency_rank,
from hits as b
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = b.entry
order by b.rank;
