-- Which searchable chunks define what a query names? They join the pool though neither arm may find them.
create macro main.named_definitions(
    names, depth, repository, ref, language, kind, path, path_glob, symbol, since
) as table
with
wanted as (
    select distinct main.word_key(lower(n.name)) as word_key
    from (select unnest(names) as name) as n
)

select
    f.chunk_id,
    f.entry,
from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
where f.symbol_key in (select w.word_key from wanted as w)
order by f.chunk_id
limit depth;
comment on macro table main.named_definitions is 'The chunks whose symbol has one of these names.';
