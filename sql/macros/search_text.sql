-- Which chunks hold the words of a query? BM25 over identifiers and their parts.
create macro main.search_text(
    query, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as table
with
hits as (
    select * from main.text_hits(
        (select q.words from main.query_words(query) as q),
        k, repository, ref, language, kind, path, path_glob, symbol, since
    )
)

select
    t.rank,
    t.score,
    p.* exclude (entry),
    t.rank as text_rank,
    t.score as text_score,
    null::bigint as vector_rank,
    null::double as vector_score,
from hits as t
inner join main.shown_chunks((select list(x.entry) from hits as x)) as p on p.entry = t.entry
order by t.rank;
comment on macro table main.search_text is 'The k best chunks by BM25, identifiers split; filters apply before k.';
