-- Which texts may be longer than what the model reads, and which snapshots need them?
-- Their `token_count` is an upper bound: count them exactly.
select
    needed_texts.position,
    wanted_texts.language,
    embedded_text(wanted_texts.label, symbol, signature, is_continuation, text) as text,
from read_parquet($chunk_shards, filename = true, file_row_number = true) as chunks
inner join wanted_texts using (filename, file_row_number)
inner join needed_texts using (text_hash)
where wanted_texts.token_count > $token_limit;
