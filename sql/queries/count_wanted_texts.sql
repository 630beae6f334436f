-- How much is there to embed?
select
    count(*) filter (where not is_embedded) as missing_count,
    count(*) filter (where is_embedded) as embedded_count,
    coalesce(sum(token_count) filter (where not is_embedded), 0)::bigint as missing_token_count,
from wanted_texts;
