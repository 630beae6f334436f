-- How much is there to embed, and how many texts may be longer than what the model reads?
select
    count(*) filter (where not is_embedded) as missing_count,
    count(*) filter (where is_embedded) as embedded_count,
    coalesce(sum(token_count) filter (where not is_embedded), 0)::bigint as missing_token_count,
    count(*) filter (where token_count > $token_limit) as long_count,
from wanted_texts;
