-- Which definitions call a symbol? One row a caller and tier; `<module>` stands for code outside definitions. Calls
-- that may mean several symbols of that name count as ambiguous, so that none is hidden.
create macro main.callers(symbol, repository := null, ref := null) as table
select
    u.repository,
    u.ref,
    u.path,
    coalesce(nullif(u.symbol, ''), '<module>') as caller,
    u.tier,
    count(*) as call_count,
    min(u.line) as first_line,
    u.target_path,
    u.target_symbol,
from main.references_to(list_last(string_split(symbol, '.')), repository := repository, ref := ref) as u
where u.kind = 'call'
    and (u.target_symbol is null or u.target_symbol = symbol or ends_with(u.target_symbol, '.' || symbol))
    and u.tier <> 'external'
group by u.repository, u.ref, u.path, caller, u.tier, u.target_path, u.target_symbol
order by u.repository, u.ref, u.path, first_line;
comment on macro table main.callers is 'Which definitions call a symbol, by name, with how sure that is.';
