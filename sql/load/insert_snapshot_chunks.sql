-- Where does each chunk stand in each retained snapshot?
insert into snapshot_chunks
select
    files.snapshot_id,
    version_chunks.chunk_id,
    files.blob,
    version_chunks.start_line,
    version_chunks.end_line,
    version_chunks.start_byte,
    version_chunks.end_byte,
from files
inner join snapshots using (snapshot_id)
inner join file_versions using (repository, path, blob, language)
inner join version_chunks using (version)
order by files.snapshot_id, file_versions.version, version_chunks.start_byte, version_chunks.chunk_id;
