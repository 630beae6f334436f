-- Which import stands behind a local name of a file? One that leads to a file of the repository first.
create temp table bindings as
select
    snapshot_id,
    path,
    local_name,
    arg_min(struct_pack(module, name, target_path), (target_path is null, line)) as origin,
from imports
where local_name is not null
group by snapshot_id, path, local_name;
