-- The hybrid search of the library: with the place of each hit in arms that were asked for, and how many copies it has.
with
hits as materialized (
    select * from main.hybrid_hits(
        $query, $query_embedding, $k, $repository, $ref, $language, $kind, $path, $path_glob, $symbol, $since, $recency,
        $arms
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
    b.arm_ranks,
    b.copy_count,
from hits as b
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = b.entry
order by b.rank;
