-- Where can a name of a repository lead to? One row per definition, with what resolution joins by.
-- `scope` is the symbol without its last name: empty for what stands at the top of a file.
create temp table reference_targets as
select
    f.snapshot_id,
    f.family,
    f.path,
    f.folder,
    s.name,
    s.symbol,
    left(s.symbol, greatest(length(s.symbol) - length(s.name) - 1, 0)) as scope,
    s.symbol_kind = 'method' as is_member,
    s.start_line,
    s.chunk_id,
from symbols as s
inner join reference_files as f using (snapshot_id, path);
