-- Which searchable chunks are nearest to a vector? Exact cosine over unit vectors, nearest first, ties by chunk_id.
create macro main.vector_hits(
    query_embedding, depth, repository, ref, language, kind, path, path_glob, symbol, since
) as table
with
query_vector as materialized (
    select
        v.embedding,
        sqrt(array_inner_product(v.embedding, v.embedding)) as length,
    from (select query_embedding::float[dimension] as embedding) as v
),

hits as (
    select
        s.chunk_id,
        s.entry,
        round((array_inner_product(e.embedding, q.embedding) / q.length)::double, 6) as score,
    from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as s
    inner join main.embeddings as e on e.rowid = s.embedding_row
    cross join query_vector as q
    where q.length > 0
    order by score desc, s.chunk_id
    limit depth
)

select
    h.chunk_id,
    h.entry,
    h.score,
    row_number() over (order by h.score desc, h.chunk_id) as rank,
from hits as h;
comment on macro table main.vector_hits is 'The nearest chunks by cosine similarity, nearest first.';
