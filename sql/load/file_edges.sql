-- Which file refers to which other one, and how much? A guess counts half; many uses count as their root.
select
    source.number as source,
    target.number as target,
    sqrt(sum(if(u.tier = 'unique in repository', 0.5, 1)))::double as weight,
from symbol_references as u
inner join file_nodes as source
    on source.snapshot_id = u.snapshot_id
    and source.path = u.path
inner join file_nodes as target
    on target.snapshot_id = u.snapshot_id
    and target.path = u.target_path
where u.path <> u.target_path
group by source.number, target.number
order by source.number, target.number;
