-- Which texts have no vector yet? One row each, in the order of the shards, to be streamed.
select
    wanted_texts.text_hash,
    wanted_texts.language,
    wanted_texts.token_count,
    embedded_text(wanted_texts.label, symbol, signature, is_continuation, text) as text,
from read_parquet($chunk_shards) as chunks
inner join wanted_texts using (blob, language, ordinal)
where wanted_texts.is_missing;
