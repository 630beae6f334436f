-- Which symbols does a query name? The whole query if it is one name, else words that look like code: a dotted
-- path, an underscore, a capital inside. The last part of a path counts as well.
create macro main.named_symbols(query) as table
with
found as (
    select
        regexp_full_match(trim(query::varchar), '[\w.:#$]+') as is_symbol,
        unnest(
            regexp_extract_all(
                query::varchar,
                '[$' || main.word_characters() || ']+(?:(?:\.|::|#)[$' || main.word_characters() || ']+)*'
            )
        ) as spelled,
),

named as (
    select
        f.is_symbol,
        ltrim(regexp_replace(f.spelled, '::|#', '.', 'g'), '.0123456789') as name,
    from found as f
),

code as (
    select n.name
    from named as n
    where n.name <> ''
        and (
            n.is_symbol
            or regexp_matches(
                n.name,
                '[^_]_|_[^_]|\.|[0-9' || main.lower_letters() || '][' || main.upper_letters() || ']'
                || '|[' || main.upper_letters() || ']{2}'
            )
        )
)

select distinct unnest([c.name, list_last(string_split(c.name, '.'))]) as name
from code as c;
comment on macro table main.named_symbols is 'The symbols that a query names, as dotted paths and by their last part.';
