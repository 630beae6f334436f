-- Where is a name used? By name, with the tier of each; a dotted path wants references that lead to that very symbol.
create macro main.references_to(name, repository := null, ref := null) as table
select
    c.repository,
    c.ref,
    u.path,
    u.line,
    u.symbol,
    u.kind,
    u.qualifier,
    u.name,
    u.tier,
    u.target_path,
    u.target_symbol,
    u.chunk_id,
from main.symbol_references as u
inner join main.snapshots as c on c.snapshot_id = u.snapshot_id
inner join main.repositories as r on r.repository = c.repository
where (
        (not contains(name, '.') and u.name = name)
        or u.target_symbol = name
        or ends_with(u.target_symbol, '.' || name)
    )
    and (repository is null or c.repository = repository)
    and (ref = '*' or c.ref = coalesce(ref, r.default_ref))
order by c.repository, c.ref, u.path, u.line, u.name;
comment on macro table main.references_to is 'Where a name is used, with how sure each reference is.';
