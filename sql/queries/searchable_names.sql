-- What can a search be limited to? One row per repository, ref, language and kind, with its chunks.
select
    repository,
    ref,
    is_default_ref,
    language,
    kind,
    count(*) as chunk_count,
from main.current_chunks
group by all
order by all;
