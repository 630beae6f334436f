-- Which file leads to which other one, and how much? To what it uses; and between source files back as well, for what
-- uses much is as worth knowing as what is used much: forward alone, a module of odds and ends comes before all else.
-- A guess counts half; many uses count as their root.
with
uses as (
    select
        source.number as source,
        target.number as target,
        sqrt(sum(if(u.tier = 'unique in repository', 0.5, 1)))::double as weight,
        any_value(source.start) = 1 and any_value(target.start) = 1 as is_in_source,
    from symbol_references as u
    inner join file_nodes as source
        on source.snapshot_id = u.snapshot_id
        and source.path = u.path
    inner join file_nodes as target
        on target.snapshot_id = u.snapshot_id
        and target.path = u.target_path
    where u.path <> u.target_path
    group by source.number, target.number
)

select source, target, weight
from uses
union all
select target as source, source as target, weight
from uses
where is_in_source
order by source, target, weight;
