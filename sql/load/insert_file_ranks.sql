-- How central is each file of a current snapshot? As a share of its repository's most central file.
insert into file_ranks
select
    file_nodes.snapshot_id,
    file_nodes.path,
    round(coalesce(scored.score / nullif(max(scored.score) over (partition by file_nodes.snapshot_id), 0), 0), 6)
        as score,
from file_nodes
inner join (select unnest($scores) as score, generate_subscripts($scores, 1) - 1 as number) as scored
    using (number)
order by file_nodes.number;
