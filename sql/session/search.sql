-- Which chunks answer a query best? search_hybrid with the session's own model. With `rerank`, the name of a
-- cross-encoder, its scores order the first `rerank_depth` (3 × k if null, at most 200); without, none is loaded.
create temp macro search(
    query, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null, recency := 0, arms := null, rerank := null, rerank_depth := null
) as table
with
fused as materialized (
    select *
    from main.search_hybrid(
        query, embed(query),
        k := if(rerank is null, k, greatest(k, coalesce(rerank_depth, least(3 * k, 200)))),
        repository := repository, ref := ref, language := language, kind := kind, path := path,
        path_glob := path_glob, symbol := symbol, since := since, recency := recency, arms := arms
    )
),

scored as (
    select
        rerank_scores(
            rerank, query, list(struct_pack(path := h.path, symbol := h.symbol, signature := h.signature, text := h.text) order by h.rank)
        ) as scores,
    from fused as h
)

select
    row_number() over (order by s.scores[f.rank] desc nulls last, f.rank) as rank,
    coalesce(s.scores[f.rank], f.score) as score,
    f.* exclude (rank, score),
from fused as f
cross join scored as s
order by rank
limit k;
