-- How many paths became what, and by which rule? One row per repository, decision, kind, language and rule.
select
    repository,
    decision,
    kind,
    language,
    skip_reason,
    skip_rule,
    count(*) as file_count,
    sum(size_bytes)::bigint as size_bytes,
from main.inventory
where $repository is null or repository = $repository
group by all
order by file_count desc, repository, decision, kind, language, skip_reason, skip_rule;
