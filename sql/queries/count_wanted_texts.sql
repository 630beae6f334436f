-- How much is there to embed?
select
    count(*) filter (where is_missing) as missing_count,
    count(*) filter (where not is_missing) as embedded_count,
    coalesce(sum(token_count) filter (where is_missing), 0)::bigint as missing_token_count,
from wanted_texts;
