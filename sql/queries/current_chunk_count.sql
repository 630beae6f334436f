-- How many different chunks do searches see?
select coalesce(max(ordinal) + 1, 0)::bigint as chunk_count
from main.current_chunks;
