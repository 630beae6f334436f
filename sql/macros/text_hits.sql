-- Which searchable chunks does BM25 put first for these words? Best first, ties by chunk_id.
-- Without filters no posting is joined: all chunks of default refs count, and theirs are the first ordinals. Either way
-- current_chunks is asked only for what reaches the place at `depth`, not for each chunk that holds a word. A list
-- unnested tells DuckDB that those are few, so that it joins from their side.
-- It ends in `qualify`: below a `limit` DuckDB would compute `sums` wherever it is named, and a stored macro forgets
-- the word `materialized`.
create macro main.text_hits(words, depth, repository, ref, language, kind, path, path_glob, symbol, since) as table
with
wanted as (
    select distinct main.word_key(spelled.word) as word_key
    from (select unnest(words) as word) as spelled
    where spelled.word <> ''
),

found as (
    select
        p.ordinal,
        sum(p.impact)::bigint as impact,
    from main.postings as p
    where coalesce(repository, ref, language, kind, path, path_glob, symbol, since::varchar) is null
        and p.word_key in (select w.word_key from wanted as w)
    group by p.ordinal
    union all
    select
        p.ordinal,
        sum(p.impact)::bigint as impact,
    from main.postings as p
    where coalesce(repository, ref, language, kind, path, path_glob, symbol, since::varchar) is not null
        and p.word_key in (select w.word_key from wanted as w)
        and p.ordinal in (
            select f.ordinal
            from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
        )
    group by p.ordinal
),

sums as (
    select f.*
    from found as f
    where coalesce(repository, ref, language, kind, path, path_glob, symbol, since::varchar) is not null
        or f.ordinal <= (select max(c.ordinal) from main.current_chunks as c where c.is_default_ref)
),

strong as (
    select unnest(list(struct_pack(ordinal := s.ordinal, impact := s.impact)), recursive := true)
    from sums as s
    where s.impact >= (
        select min(b.impact) from (select s.impact from sums as s order by s.impact desc limit depth) as b
    )
),

hits as (
    select
        f.chunk_id,
        f.entry,
        s.impact,
    from strong as s
    inner join main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
        on f.ordinal = s.ordinal
)

select
    h.chunk_id,
    h.entry,
    h.impact / 1000 as score,
    row_number() over (order by h.impact desc, h.chunk_id) as rank,
from hits as h
qualify rank <= depth;
comment on macro table main.text_hits is 'The first chunks by BM25 over a list of words, best first.';
