-- Which symbols does a query name? The whole query if it is one name, else words that look like code: a dotted
-- path, an underscore, a capital inside. The last part of a path counts as well.
create macro main.named_symbols(query) as
    list_distinct(flatten(list_transform(
        list_filter(
            regexp_extract_all(query, '[\p{L}_$][\p{L}\p{N}_$]*(?:(?:\.|::|#)[\p{L}_$][\p{L}\p{N}_$]*)*'),
            lambda name:
                regexp_full_match(trim(query), '[\w.:#$]+')
                or regexp_matches(name, '[\p{L}\p{N}]_|_[\p{L}\p{N}]|\.|::|#|[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}')
        ),
        lambda name: [
            regexp_replace(name, '::|#', '.', 'g'),
            list_last(string_split(regexp_replace(name, '::|#', '.', 'g'), '.'))
        ]
    )));
comment on macro main.named_symbols is 'The symbols that a query names, as dotted paths and by their last part.';
