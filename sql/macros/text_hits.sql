-- Which searchable chunks does BM25 put first for these words? Best first, ties by chunk_id.
create macro main.text_hits(words, depth, repository, ref, language, kind, path, path_glob, symbol, since) as table
with
wanted as materialized (
    select distinct main.word_key(spelled.word) as word_key
    from (select unnest(words) as word) as spelled
    where spelled.word <> ''
),

sums as (
    select
        p.ordinal,
        sum(p.impact)::bigint as impact,
    from main.postings as p
    where p.word_key in (select w.word_key from wanted as w)
    group by p.ordinal
),

hits as (
    select
        f.chunk_id,
        f.entry,
        s.impact,
    from sums as s
    inner join main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
        on f.ordinal = s.ordinal
    order by s.impact desc, f.chunk_id
    limit depth
)

select
    h.chunk_id,
    h.entry,
    h.impact / 1000 as score,
    row_number() over (order by h.impact desc, h.chunk_id) as rank,
from hits as h;
comment on macro table main.text_hits is 'The first chunks by BM25 over a list of words, best first.';
