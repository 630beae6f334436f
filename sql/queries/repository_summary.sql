-- What does the index hold of each repository?
select
    repository,
    ref,
    commit,
    committed_at,
    indexed_at,
    indexed_file_count,
    skipped_file_count,
    failed_file_count,
    indexed_bytes,
    chunk_count,
from main.repository_summary
order by repository;
