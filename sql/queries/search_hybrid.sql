-- The hybrid search of the library: with the place of each hit in arms that were asked for, and how many copies it has.
with
hits as materialized (
    select * from main.hybrid_hits(
        $query, $query_embedding, $k, $repository, $ref, $language, $kind, $path, $path_glob, $symbol, $since, $recency,
        $arms
    )
),

copies as (
    select
        c.text_key,
        count(distinct c.chunk_id) - 1 as copy_count,
    from main.current_chunks as c
    where c.is_default_ref
        and c.text_key in (select h.text_key from hits as h)
    group by c.text_key
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
    nullif(greatest(c.copy_count, 0), 0) as copy_count,
from hits as b
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = b.entry
left join copies as c on c.text_key = b.text_key
order by b.rank;
