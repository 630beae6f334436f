-- Which words does BM25 see in a text? One answer for documents and queries: whole identifiers and their parts.
-- A text's words are those of its identifiers one by one, so that load splits each different identifier once.
create macro main.split_words(text) as
    main.split_identifiers(main.spaced_identifiers(main.fold_text(text)));
comment on macro main.split_words is
    'The words of a text as BM25 indexes them, separated by blanks: stems of the parts of identifiers, whole compound identifiers, CJK characters and pairs.';
