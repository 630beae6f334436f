-- What was left out, by which rule?
create view main.skip_summary as
select
    i.repository,
    i.skip_reason,
    i.skip_rule,
    count(*) as file_count,
    sum(i.size_bytes) as size_bytes,
from main.inventory as i
where i.decision = 'skipped'
group by i.repository, i.skip_reason, i.skip_rule
order by i.repository, file_count desc, i.skip_reason, i.skip_rule;
comment on view main.skip_summary is 'Skipped paths of the default refs by repository, reason and rule.';
