-- Which texts may exceed what the model reads? `token_count` is an upper bound, so these are counted exactly.
select
    wanted_texts.text_hash,
    wanted_texts.language,
    embedded_text(wanted_texts.label, symbol, signature, is_continuation, text) as text,
from read_parquet($chunk_shards) as chunks
inner join wanted_texts using (blob, language, ordinal)
where wanted_texts.token_count > $token_limit;
