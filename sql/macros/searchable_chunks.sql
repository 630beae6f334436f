-- Which chunks pass the filters? One row a chunk: its place under the default ref, else under the first ref.
-- The first branch needs no grouping, since a chunk stands in one ref of a repository once.
create macro main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as table
with
passing as (
    select
        c.entry,
        c.ordinal,
        c.chunk_id,
        c.embedding_row,
        c.symbol_key,
        c.ref,
        c.is_default_ref,
    from main.current_chunks as c
    where (since is null or c.last_commit_at >= since::timestamptz)
        and (repository is null or c.repository = repository)
        and (language is null or c.language = lower(language))
        and (kind is null or c.kind = lower(kind))
        and (
            path is null
            or c.path = main.plain_path(path)
            or (ends_with(path, '/') and starts_with(c.path, main.plain_path(path)))
        )
        and (path_glob is null or regexp_full_match(c.path, main.glob_pattern(main.plain_path(path_glob)), 's'))
        and (symbol is null or c.symbol = symbol or ends_with(c.symbol, '.' || symbol))
)

select
    p.ordinal,
    p.chunk_id,
    p.embedding_row,
    p.symbol_key,
    p.entry,
from passing as p
where (ref is null and p.is_default_ref)
    or (ref <> '*' and p.ref = ref)
union all
select
    p.ordinal,
    any_value(p.chunk_id) as chunk_id,
    any_value(p.embedding_row) as embedding_row,
    any_value(p.symbol_key) as symbol_key,
    min(p.entry) as entry,
from passing as p
where ref = '*'
group by p.ordinal;
comment on macro table main.searchable_chunks is 'The current chunks that pass the filters of a search, one row a chunk.';
