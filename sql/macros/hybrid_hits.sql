-- Which entries answer a query best by words and meaning together? Reciprocal rank fusion (Cormack et al. 2009,
-- k = 60), then ranking rules. One unit of the rules is the score of a first place, 1/61.
-- Rules act on a pool of the first 100 of each arm and the definitions of what the query names. Recency is an arm
-- that orders the pool and adds nothing to it: what is new answers a query only if it speaks of it. `arms` are places
-- that others give: a list of (arm, entry, rank, weight), which join the pool.
-- It ends in `qualify` as text_hits does, so that nothing is computed twice.
create macro main.hybrid_hits(
    query, query_embedding, k, repository, ref, language, kind, path, path_glob, symbol, since, recency, arms
) as table
with
named as (
    select s.name from main.named_symbols(query) as s
),

given as (
    select
        regexp_full_match(trim(query::varchar), '[\w.:#$]+') as is_symbol,
        (select list(n.name) from named as n) as names,
        (select list(lower(n.name)) from named as n) as folded_names,
        (select sum(length(n.name)) from named as n) / length(query::varchar) as share_of_names,
        (select q.words from main.query_words(query) as q) as words,
        regexp_extract_all(lower(query::varchar), '\bv\d+\b') as versions,
        [
            'python', 'javascript', 'typescript', 'java', 'golang', 'rust', 'ruby', 'php', 'csharp', 'kotlin', 'scala',
            'swift', 'perl', 'haskell', 'elixir', 'lua', 'bash'
        ] as languages,
),

asked as (
    select
        g.*,
        not g.is_symbol
        and list_has_any(g.words, g.languages)
        and list_has_all(g.languages, coalesce(g.folded_names, [])) as is_question,
        not g.is_symbol and not is_question and coalesce(g.share_of_names >= 0.15, false) as names_code,
        if(is_question, 0.25, 1) as weight_of_words,
        if(names_code, 2.5, 1.5) as weight_of_strong_words,
        if(names_code, 0.5, 1) as weight_of_meaning,
    from given as g
),

text_arm as (
    select * from main.text_hits(
        (select a.words from asked as a),
        greatest(100, 3 * k), repository, ref, language, kind, path, path_glob, symbol, since
    )
),

definitions as (
    select d.entry
    from main.named_definitions(
        (select a.names from asked as a), 50, repository, ref, language, kind, path, path_glob, symbol, since
    ) as d
),

other_arms as (
    select
        a.entry,
        sum(a.weight / (60 + a.rank)) as gain,
        map_from_entries(list(struct_pack(arm := a.arm, rank := a.rank) order by a.arm)) as arm_ranks,
    from (
        select unnest(
            arms::struct(arm varchar, entry bigint, rank bigint, weight double)[], recursive := true
        )
    ) as a
    group by a.entry
),

candidates as (
    select
        c.entry,
        c.embedding_row,
    from (
        select entry from text_arm
        union
        select entry from definitions
        union
        select entry from other_arms
    ) as f
    inner join main.current_chunks as c on c.entry = f.entry
),

vector_arm as (
    select * from main.vector_hits(
        query_embedding, greatest(100, 3 * k), (select list(c.embedding_row) from candidates as c),
        repository, ref, language, kind, path, path_glob, symbol, since
    )
),

pool as (
    select entry from candidates
    union
    select entry from vector_arm where rank is not null
),

-- The figures beside the rules are the loss of nDCG@10 without them with the vectors of `fast` and, behind the slash,
-- of `minilm`: for 122 questions answered by files, 300 commit subjects and 186 changelog entries answered by
-- functions, 250 search-engine questions where they move; the README tells their intervals. All together: 0.11 / 0.13,
-- 0.17 / 0.15, 0.17 / 0.15, 0.03 / 0.06.
-- A strong match counts by its strength, not by its place alone. Words: 0.02 / 0.01, 0.02 / 0.04, 0.02 / 0.01,
-- 0.00 / 0.00; meaning: 0.01 / 0.00, -0.01 / -0.01, 0.00 / -0.01, 0.01 / 0.03.
-- Meaning's strength is asked of every candidate, also beyond the first 100: a large index has a hundred chunks about
-- anything, and what words found may stand just below. 0.01 / 0.00 for 780 commit subjects of 13 repositories in 11
-- other languages than Python, 0.00 / 0.00 elsewhere.
-- In a query that spends a seventh of its letters on names of code, `fix overflow in read_until`, words tell more than
-- meaning: strong words count 2.5 instead of 1.5, meaning half. 0.02 / 0.01 for those 780, 0.00 / 0.00 for the other
-- commit subjects, -0.00 / 0.01 for changelog entries, 0.00 / 0.00 by files.
-- A query that says its language and no name, `how to read a file in python`, is a question of what code does, and its
-- words are not those of the code: they count a quarter, 0.04 / 0.07 for search-engine questions, nothing elsewhere.
fused as (
    select
        p.entry,
        c.chunk_id,
        a.weight_of_words
        * (
            coalesce(1 / (60 + t.rank), 0)
            + a.weight_of_strong_words / 61 * coalesce(t.score / (select max(m.score) from text_arm as m), 0)
        )
        + a.weight_of_meaning
        * (
            coalesce(1 / (60 + v.rank), 0)
            + 1 / 61 * coalesce(greatest(v.score, 0) / (select nullif(max(m.score), 0) from vector_arm as m), 0)
        )
        + coalesce(o.gain, 0) as fusion,
        t.rank as text_rank,
        t.score as text_score,
        v.rank as vector_rank,
        v.score as vector_score,
        case
            when recency > 0 and c.last_commit_at is not null
            then dense_rank() over (order by c.last_commit_at desc nulls last)
        end as recency_rank,
        c.symbol,
        c.symbol_key,
        c.kind,
        o.arm_ranks,
        c.snapshot_id,
        c.repository,
        c.path,
        c.start_byte,
        c.end_byte,
        c.text_key,
        c.copy_count,
        string_split(c.file_words, ' ') as file_words,
        string_split(c.parent_words, ' ') as parent_words,
    from pool as p
    cross join asked as a
    inner join main.current_chunks as c on c.entry = p.entry
    left join text_arm as t on t.entry = p.entry
    left join vector_arm as v on v.entry = p.entry
    left join other_arms as o on o.entry = p.entry
),

described as (
    select
        f.* replace (f.fusion + recency * coalesce(1 / (60 + f.recency_rank), 0) as fusion),
        f.repository || ' ' || f.path as file,
        regexp_extract(f.path, '^(|.*/)v\d+/', 1) as versions_folder,
        try_cast(regexp_extract(f.path, '^(|.*/)v(\d+)/', 2) as bigint) as version,
        max(version) over (
            order by f.repository, versions_folder range between current row and current row
        ) as newest_version,
        list_last(string_split(f.symbol, '.')) as name,
    from fused as f
),

-- What counts more:
-- Name: the very symbol asked for, 0.02 / 0.03 by files; a name inside a sentence earns nothing beyond its words.
-- File: the share of the file name's words that the query holds, 0.01 / 0.00, 0.00 / 0.00, 0.00 / 0.00; one more word in
-- the divisor, since a name of one word says little: 0.01 / 0.01 by files.
-- Parent: the same of the class or other definition around, 0.00 / 0.01, 0.01 / 0.01, 0.02 / 0.01.
-- What counts less:
-- Module: loose statements below definitions, 0.00 / 0.00, 0.01 / 0.01, 0.00 / 0.00.
-- Version: a folder such as `v3` below its newer neighbour `v4` unless the query names it, 0.01 / 0.01 by files (the one
-- repository that has such folders, 0.05).
-- Below source, unless the query or `kind` asks for them: tests, 0.02 / 0.01, 0.07 / 0.07, 0.06 / 0.07; docs and the
-- like, 0.01 / 0.01, 0.07 / 0.06, 0.10 / 0.10.
ruled as (
    select
        d.*,
        (
            d.fusion
            + (
                case
                    when not a.is_symbol or d.symbol_key is null then 0
                    when list_contains(a.names, d.symbol) then 1
                    when list_contains(a.names, d.name) then 0.75
                    when list_contains(a.folded_names, lower(d.name)) then 0.5
                    else 0
                end
                + 1.2 * len(list_intersect(a.words, d.file_words)) / (1 + len(d.file_words))
                + 0.7 * coalesce(len(list_intersect(a.words, d.parent_words)) / (1 + len(d.parent_words)), 0)
            ) / 61
        )
        * case when d.symbol = '<module>' then 0.7 else 1 end
        * case
            when d.version < d.newest_version and not list_contains(a.versions, 'v' || d.version) then 0.65
            else 1
        end
        * case
            when kind is not null then 1
            when d.kind = 'test' and not list_has_any(a.words, ['test', 'spec', 'benchmark', 'fixtur', 'mock'])
            then 0.35
            when d.kind in ('docs', 'example', 'config', 'generated', 'vendored')
                and not list_has_any(
                    a.words, ['doc', 'docs', 'readm', 'exampl', 'tutorial', 'config', 'changelog', 'generat', 'vendor']
                )
            then 0.25
            else 1
        end as score,
    from described as d
    cross join asked as a
),

-- The best of copies, chunks of the same symbol and text, stands for all. A window overlaps with its neighbours: one
-- that stands by more than half in a better one goes. Rows are ordered, not partitioned: a partition for each copy or
-- file took DuckDB 7 ms.
different as (
    select r.*
    from ruled as r
    window
        copies as (order by r.text_key, r.score desc, r.chunk_id),
        neighbours as (order by r.snapshot_id, r.file, r.start_byte, r.end_byte)
    qualify lag(r.text_key) over copies is distinct from r.text_key
        and not coalesce(
            lag((r.snapshot_id, r.file)) over neighbours = (r.snapshot_id, r.file)
            and 2 * (lag(r.end_byte) over neighbours - r.start_byte) > r.end_byte - r.start_byte
            and lag(r.score) over neighbours >= r.score,
            false
        )
        and not coalesce(
            lead((r.snapshot_id, r.file)) over neighbours = (r.snapshot_id, r.file)
            and 2 * (r.end_byte - lead(r.start_byte) over neighbours) > r.end_byte - r.start_byte
            and lead(r.score) over neighbours > r.score,
            false
        )
),

-- No flooding by one file: each further chunk of it counts an eighth less, 0.04 / 0.05 by files, but -0.02 / -0.02 and
-- -0.03 / -0.04 where functions are counted; more gains more there and loses more here. Each further chunk of one
-- symbol, a piece of it or an overload, counts half besides, for the first leads to it: 0.00 / 0.01 everywhere.
spread as (
    select
        d.*,
        round(
            d.score
            * power(0.87, row_number() over files - rank() over (order by d.file))
            * power(0.5, row_number() over symbols - rank() over (order by d.file, d.symbol)),
            8
        ) as final_score,
    from different as d
    window
        files as (order by d.file, d.score desc, d.chunk_id),
        symbols as (order by d.file, d.symbol, d.score desc, d.chunk_id)
)

select
    s.entry,
    s.chunk_id,
    row_number() over (order by s.final_score desc, s.chunk_id) as rank,
    s.final_score as score,
    s.text_rank,
    s.text_score,
    s.vector_rank,
    s.vector_score,
    s.recency_rank,
    s.arm_ranks,
    s.copy_count,
from spread as s
qualify rank <= k;
comment on macro table main.hybrid_hits is 'The first entries by words and meaning together, and by recency if asked.';
