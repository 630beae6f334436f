-- Where is a name defined? A name such as `total_price`, or a dotted path or the end of one such as `Cart.total_price`.
create macro main.definitions(name, repository := null, ref := null) as table
select
    c.repository,
    c.ref,
    d.path,
    d.start_line,
    d.end_line,
    d.symbol,
    d.symbol_kind,
    d.chunk_id,
from main.symbols as d
inner join main.snapshots as c on c.snapshot_id = d.snapshot_id
inner join main.repositories as r on r.repository = c.repository
where d.name = list_last(string_split(name, '.'))
    and (d.symbol = name or ends_with(d.symbol, '.' || name))
    and (repository is null or c.repository = repository)
    and (ref = '*' or c.ref = coalesce(ref, r.default_ref))
order by c.repository, c.ref, d.path, d.start_line;
comment on macro table main.definitions is 'Where a name or dotted path is defined, in default refs unless asked otherwise.';
