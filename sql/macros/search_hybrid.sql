-- Which chunks answer a query best by words and meaning together? Reciprocal rank fusion (Cormack et al. 2009,
-- k = 60), then ranking rules. One unit of the rules is the score of a first place, 1/61.
-- Rules act on a pool of the first 100 of each arm and the definitions of what the query names.
create macro main.search_hybrid(
    query, query_embedding, k := 10, repository := null, ref := null, language := null, kind := null,
    path := null, path_glob := null, symbol := null
) as table
with
asked as materialized (
    select
        regexp_full_match(trim(query::varchar), '[\w.:#$]+') as is_symbol,
        main.named_symbols(query::varchar) as names,
        string_split(main.split_words(query::varchar), ' ') as words,
),

text_arm as materialized (
    select * from main.text_hits(
        query, greatest(100, 3 * k), repository, ref, language, kind, path, path_glob, symbol
    )
),

vector_arm as materialized (
    select * from main.vector_hits(
        query_embedding, greatest(100, 3 * k), repository, ref, language, kind, path, path_glob, symbol
    )
),

definitions as (
    select
        d.entry,
        d.chunk_id,
    from main.named_definitions(query, 50, repository, ref, language, kind, path, path_glob, symbol) as d
),

pool as (
    select entry, chunk_id from text_arm
    union
    select entry, chunk_id from vector_arm
    union
    select entry, chunk_id from definitions
),

-- A strong match of words counts by its strength, not by its place alone: +0.026 nDCG@10 on commits, +0.011 on
-- the changelog.
fused as (
    select
        p.entry,
        p.chunk_id,
        coalesce(1 / (60 + t.rank), 0)
        + coalesce(1 / (60 + v.rank), 0)
        + coalesce(t.score / (select max(m.score) from text_arm as m), 0) / 61 as fusion,
        t.rank as text_rank,
        t.score as text_score,
        v.rank as vector_rank,
        v.score as vector_score,
    from pool as p
    left join text_arm as t on t.entry = p.entry
    left join vector_arm as v on v.entry = p.entry
),

described as materialized (
    select
        f.*,
        c.symbol,
        c.symbol_key,
        c.kind,
        c.repository || ' ' || c.path as file,
        list_last(string_split(c.symbol, '.')) as name,
        string_split(main.split_words(main.file_stem(c.path)), ' ') as file_words,
    from fused as f
    inner join main.current_chunks as c on c.entry = f.entry
),

-- Names: the very symbol asked for, +0.011 on the public benchmark; a name inside a sentence, +0.006 on commits.
-- File: words of the query in the file's name, +0.018, +0.006 on commits, +0.010 on the changelog.
-- Module: loose statements below definitions, +0.007 on commits.
-- Tests and the like below source, unless the query or `kind` asks for them.
ruled as (
    select
        d.*,
        (
            d.fusion
            + case
                when d.symbol_key is null then 0
                when list_contains(a.names, d.symbol) then 1
                when list_contains(a.names, d.name) then 0.75
                when list_contains(list_transform(a.names, lambda n: lower(n)), lower(d.name)) then 0.5
                else 0
            end * case when a.is_symbol then 1 else 0.5 end / 61
            + 0.4 / 61 * len(list_intersect(a.words, d.file_words)) / greatest(len(d.file_words), 1)
        )
        * case when d.symbol = '<module>' then 0.85 else 1 end
        * case
            when kind is not null then 1
            when d.kind = 'test' and not list_has_any(a.words, ['test', 'spec', 'benchmark', 'fixtur', 'mock'])
            then 0.5
            when d.kind in ('docs', 'example', 'config', 'generated', 'vendored')
                and not list_has_any(
                    a.words, ['doc', 'docs', 'readm', 'exampl', 'tutorial', 'config', 'changelog', 'generat', 'vendor']
                )
            then 0.5
            else 1
        end as score,
    from described as d
    cross join asked as a
),

files as (
    select
        r.file,
        sum(r.fusion) as fusion,
    from ruled as r
    group by r.file
),

-- Several hits in one file lift it: +0.02 on the public benchmark.
lifted as (
    select
        r.*,
        r.score + 0.4 / 61 * f.fusion / (select max(m.fusion) from files as m) as lifted_score,
    from ruled as r
    inner join files as f on f.file = r.file
),

-- No flooding by one file: each further chunk of it counts a tenth less. +0.04 on the public benchmark, which
-- counts files; -0.01 on commits and changelog, which count functions: a stronger one gains there, loses here.
spread as (
    select
        l.*,
        round(
            l.lifted_score * power(
                0.9,
                row_number() over (partition by l.file order by l.lifted_score desc, l.chunk_id) - 1
            ),
            8
        ) as final_score,
    from lifted as l
),

best as (
    select
        s.*,
        row_number() over (order by s.final_score desc, s.chunk_id) as rank,
    from spread as s
    order by s.final_score desc, s.chunk_id
    limit k
)

select
    b.rank,
    b.final_score as score,
    p.* exclude (entry),
    b.text_rank,
    b.text_score,
    b.vector_rank,
    b.vector_score,
from best as b
inner join main.chunk_places as p on p.entry = b.entry
order by b.rank;
comment on macro table main.search_hybrid is
    'The k best chunks by BM25 and cosine similarity together, then ranking rules; filters apply before k.';
