-- Which words does BM25 see in identifiers separated by blanks? Identifiers as spaced_identifiers gives them.
-- `parseHTTP2Frame` gives parsehttp2frame, parse, http2, frame, http, 2; CJK text gives characters and their pairs.
-- No lambda: within one, DuckDB compiles its regular expressions again for each vector of rows, about 25 ms.
create macro main.split_identifiers(identifiers) as
    main.stem_words(lower(concat_ws(
        ' ',
        main.identifier_parts(main.spaced_characters(identifiers)),
        main.compound_identifiers(identifiers),
        main.digit_parts(main.identifier_parts(identifiers)),
        main.character_pairs(identifiers)
    )));
comment on macro main.split_identifiers is
    'The words of identifiers separated by blanks, as split_words gives them.';
