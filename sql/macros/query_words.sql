-- Which words does a query hold, as BM25 sees them? One row with their list. Step by step, since DuckDB would else put
-- each step into the next wherever it is named, and compile its regular expressions as many times.
create macro main.query_words(query) as table
with
given as (
    select query::varchar as query
),

spaced as (
    select main.spaced_identifiers(main.fold_text(g.query)) as identifiers
    from given as g
)

select regexp_extract_all(main.split_identifiers(s.identifiers), '[^ ]+') as words
from spaced as s;
comment on macro table main.query_words is 'The words of a query as BM25 indexes them: one row with their list.';
