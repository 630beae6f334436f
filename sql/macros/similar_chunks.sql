-- Which chunks mean nearly the same as a stored one? Its nearest neighbours by cosine, itself left out.
create macro main.similar_chunks(
    chunk_id, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as table
with
origin as (
    select e.embedding
    from main.current_chunks as o
    inner join main.embeddings as e on e.rowid = o.embedding_row
    where o.chunk_id = chunk_id::bigint
    limit 1
),

nearest as (
    select v.*
    from main.vector_hits(
        (select o.embedding from origin as o), k + 1, null, repository, ref, language, kind, path, path_glob, symbol, since
    ) as v
    where v.chunk_id <> chunk_id::bigint
    order by v.rank
    limit k
),

ranked as (
    select
        n.entry,
        n.score,
        row_number() over (order by n.rank) as rank,
    from nearest as n
)

select
    n.rank,
    n.score,
    p.* exclude (entry),
    null::bigint as text_rank,
    null::double as text_score,
    n.rank as vector_rank,
    n.score as vector_score,
from ranked as n
inner join main.shown_chunks((select list(x.entry) from ranked as x)) as p on p.entry = n.entry
order by n.rank;
comment on macro table main.similar_chunks is 'The k nearest neighbours of a stored chunk; filters apply before k.';
