-- Which words does a query hold, as BM25 sees them? One row with their list. The materialized step keeps DuckDB from
-- folding the query into split_words step by step, which compiles its regular expressions many times over.
create macro main.query_words(query) as table
with
given as materialized (
    select query::varchar as query
)

select string_split(main.split_words(g.query), ' ') as words
from given as g;
comment on macro table main.query_words is 'The words of a query as BM25 indexes them: one row with their list.';
