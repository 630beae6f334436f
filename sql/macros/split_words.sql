-- Which words does BM25 see in a text? One answer for documents and queries: whole identifiers and their parts.
-- `parseHTTP2Frame` gives parsehttp2frame, parse, http2, frame, http, 2; CJK text gives characters and their pairs.
-- A text's words are those of its identifiers one by one, so that load splits each different identifier once.
create macro main.split_words(text) as
    list_transform(
        [main.spaced_identifiers(main.fold_text(text))],
        lambda identifiers: main.stem_words(lower(concat_ws(
            ' ',
            main.identifier_parts(main.spaced_characters(identifiers)),
            main.compound_identifiers(identifiers),
            main.digit_parts(main.identifier_parts(identifiers)),
            main.character_pairs(identifiers)
        )))
    )[1];
comment on macro main.split_words is
    'The words of a text as BM25 indexes them, separated by blanks: stems of the parts of identifiers, whole compound identifiers, CJK characters and pairs.';
