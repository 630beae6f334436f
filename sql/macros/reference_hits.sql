-- Which searchable chunks use what a query names? The surest references first, then the chunks with most of them.
create macro main.reference_hits(
    query, depth, repository, ref, language, kind, path, path_glob, symbol, since
) as table
with
used as (
    select
        u.chunk_id,
        min(case when u.tier = 'external' then 2 when u.tier = 'ambiguous' then 1 else 0 end) as doubt,
        count(*) as use_count,
    from main.symbol_references as u
    where u.name in (select s.name from main.named_symbols(query) as s)
    group by u.chunk_id
)

select
    f.entry,
    f.chunk_id,
    row_number() over (order by u.doubt, u.use_count desc, f.chunk_id) as rank,
from used as u
inner join main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
    on f.chunk_id = u.chunk_id
order by rank
limit depth;
comment on macro table main.reference_hits is 'The first chunks that use what a query names.';
