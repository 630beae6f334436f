-- How much is there to embed for each snapshot, and how many of its texts may be longer than what the model reads?
-- A text counts as missing for the first snapshot that needs it, and as reused for the others.
select
    needed_texts.position,
    count(*) filter (where not is_embedded and position = first_position) as missing_count,
    count(*) filter (where is_embedded or position > first_position) as reused_count,
    coalesce(
        sum(wanted_texts.token_count) filter (where not is_embedded and position = first_position), 0
    )::bigint as missing_token_count,
    count(*) filter (where wanted_texts.token_count > $token_limit) as long_count,
from needed_texts
inner join wanted_texts using (text_hash)
group by needed_texts.position;
