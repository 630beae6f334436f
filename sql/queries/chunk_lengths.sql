-- How long are the chunks of today, in tokens of the model, and how far off is the estimate of 4 characters a token?
select
    count(*) as chunk_count,
    coalesce(quantile_disc(c.token_count, 0.5), 0) as median_tokens,
    coalesce(quantile_disc(c.token_count, 0.95), 0) as p95_tokens,
    coalesce(max(c.token_count), 0) as max_tokens,
    count(*) filter (where c.token_count > $limit_tokens) as over_limit_count,
    coalesce(sum(length(c.text)) / nullif(sum(c.token_count), 0), 0) as characters_per_token,
from main.code as c;
