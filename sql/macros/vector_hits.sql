-- Which searchable chunks are nearest to a vector? Exact cosine over unit vectors, nearest first, ties by chunk_id.
-- `others` are places of vectors whose cosine is wanted wherever they stand: beyond `depth` their rank is null.
-- Without filters no vector is joined: all chunks of default refs count, and theirs are the first vectors. Either way
-- current_chunks is asked only for what reaches the place at `depth`; a millionth lower may round to the same score.
-- A list unnested tells DuckDB that those are few, so that it joins from their side. It ends in `qualify`, as
-- text_hits does.
create macro main.vector_hits(
    query_embedding, depth, others, repository, ref, language, kind, path, path_glob, symbol, since
) as table
with
query_vector as (
    select
        v.embedding,
        sqrt(array_inner_product(v.embedding, v.embedding)) as length,
    from (select query_embedding::float[dimension] as embedding) as v
),

cosines as (
    select
        e.rowid as embedding_row,
        array_inner_product(e.embedding, q.embedding) / q.length as cosine,
    from main.embeddings as e
    cross join query_vector as q
    where coalesce(repository, ref, language, kind, path, path_glob, symbol, since::varchar) is null
        and q.length > 0
        and e.rowid <= (select max(c.embedding_row) from main.current_chunks as c where c.is_default_ref)
    union all
    select
        e.rowid as embedding_row,
        array_inner_product(e.embedding, q.embedding) / q.length as cosine,
    from main.embeddings as e
    cross join query_vector as q
    where coalesce(repository, ref, language, kind, path, path_glob, symbol, since::varchar) is not null
        and q.length > 0
        and e.rowid in (
            select s.embedding_row
            from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as s
        )
),

near as (
    select
        n.embedding_row,
        n.cosine,
    from cosines as n
    where n.cosine >= (
        select min(b.cosine) from (select c.cosine from cosines as c order by c.cosine desc limit depth) as b
    ) - 0.000002
),

wanted as (
    select n.* from near as n
    union
    select
        c.embedding_row,
        c.cosine,
    from cosines as c
    where c.embedding_row in (select unnest(others))
),

few as (
    select unnest(list(struct_pack(embedding_row := w.embedding_row, cosine := w.cosine)), recursive := true)
    from wanted as w
),

hits as (
    select
        s.chunk_id,
        s.entry,
        s.embedding_row,
        round(f.cosine::double, 6) as score,
    from few as f
    inner join main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as s
        on s.embedding_row = f.embedding_row
)

select
    h.chunk_id,
    h.entry,
    h.score,
    row_number() over (order by h.score desc, h.chunk_id) as place,
    if(place <= depth, place, null) as rank,
from hits as h
qualify place <= depth or list_contains(others, h.embedding_row);
comment on macro table main.vector_hits is 'The nearest chunks by cosine similarity, nearest first.';
