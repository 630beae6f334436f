-- The chunks that use what a query names, as an arm of search_hybrid.
create macro main.reference_arm(
    query, weight := 1, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as (
    select list(struct_pack(arm := 'references', entry := h.entry, rank := h.rank, weight := weight::double))
    from main.reference_hits(query, 100, repository, ref, language, kind, path, path_glob, symbol, since) as h
);
comment on macro main.reference_arm is
    'The first 100 chunks that use what a query names, for the argument `arms` of search_hybrid.';
