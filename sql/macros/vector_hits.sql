-- Which searchable chunks are nearest to a vector? Exact cosine over unit vectors, nearest first, ties by chunk_id.
create macro main.vector_hits(
    query_embedding, depth, repository, ref, language, kind, path, path_glob, symbol
) as table
with
searchable as (
    select * from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol)
),

query_vector as materialized (
    select
        v.embedding,
        sqrt(array_inner_product(v.embedding, v.embedding)) as length,
    from (select query_embedding::float[dimension] as embedding) as v
),

similarities as (
    select
        e.rowid as embedding_row,
        round((array_inner_product(e.embedding, q.embedding) / q.length)::double, 6) as score,
    from main.embeddings as e
    cross join query_vector as q
    where q.length > 0
        and e.rowid in (select s.embedding_row from searchable as s)
),

hits as (
    select
        s.chunk_id,
        s.entry,
        n.score,
    from similarities as n
    inner join searchable as s on s.embedding_row = n.embedding_row
    order by n.score desc, s.chunk_id
    limit depth
)

select
    h.chunk_id,
    h.entry,
    h.score,
    row_number() over (order by h.score desc, h.chunk_id) as rank,
from hits as h;
comment on macro table main.vector_hits is 'The nearest chunks by cosine similarity, nearest first.';
