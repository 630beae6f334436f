-- Which words does BM25 see in a text? One answer for documents and queries: whole identifiers and their parts.
-- `parseHTTP2Frame` gives parsehttp2frame, parse, http2, frame, http, 2; CJK text gives characters and their pairs.
-- A text's words are those of its identifiers one by one, so that load splits each different identifier once.
-- No lambda: within one, DuckDB compiles its regular expressions again for each vector of rows, about 25 ms.
create macro main.split_words(text) as
    main.stem_words(lower(concat_ws(
        ' ',
        main.identifier_parts(main.spaced_characters(main.spaced_identifiers(main.fold_text(text)))),
        main.compound_identifiers(main.spaced_identifiers(main.fold_text(text))),
        main.digit_parts(main.identifier_parts(main.spaced_identifiers(main.fold_text(text)))),
        main.character_pairs(main.spaced_identifiers(main.fold_text(text)))
    )));
comment on macro main.split_words is
    'The words of a text as BM25 indexes them, separated by blanks: stems of the parts of identifiers, whole compound identifiers, CJK characters and pairs.';
