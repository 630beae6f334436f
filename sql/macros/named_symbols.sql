-- Which symbols does a query name? The whole query if it is one name, else words that look like code: a dotted
-- path, an underscore, a capital inside. The last part of a path counts as well.
create macro main.named_symbols(query) as table
with
given as materialized (
    select query::varchar as query
),

found as (
    select
        regexp_full_match(trim(g.query), '[\w.:#$]+') as is_symbol,
        unnest(
            regexp_extract_all(g.query, '[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}_$][\p{L}\p{N}_$]*)*')
        ) as name,
    from given as g
),

named as (
    select regexp_replace(f.name, '::|#', '.', 'g') as name
    from found as f
    where f.is_symbol
        or regexp_matches(f.name, '[\p{L}\p{N}]_|_[\p{L}\p{N}]|\.|::|#|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}')
)

select distinct unnest([n.name, list_last(string_split(n.name, '.'))]) as name
from named as n;
comment on macro table main.named_symbols is 'The symbols that a query names, as dotted paths and by their last part.';
