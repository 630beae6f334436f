-- Files picked for a query, best first, as an arm of search_hybrid: of each its ten nearest chunks, at the file's place.
create macro main.selected_arm(
    paths, query_embedding, weight := 1, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as (
    with
    picked as (
        select
            unnest(paths::varchar[]) as path,
            generate_subscripts(paths::varchar[], 1) as place,
    ),

    ranked as (
        select
            f.entry,
            p.place,
            row_number() over (
                partition by p.path
                order by array_inner_product(e.embedding, query_embedding::float[dimension]) desc nulls last, f.chunk_id
            ) as place_in_file,
        from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
        inner join main.current_chunks as c on c.entry = f.entry
        inner join picked as p on p.path = c.path
        left join main.embeddings as e on e.rowid = c.embedding_row
    )

    select list(struct_pack(arm := 'selected', entry := r.entry, rank := r.place, weight := weight::double))
    from ranked as r
    where r.place_in_file <= 10
);
comment on macro main.selected_arm is
    'Chunks of files picked for a query, best first, for the argument `arms` of search_hybrid.';
