-- Which texts have no vector yet? One row each, to be streamed.
select
    wanted_texts.text_hash,
    wanted_texts.language,
    wanted_texts.token_count,
    embedded_text(wanted_texts.label, symbol, signature, is_continuation, text) as text,
from read_parquet($chunk_shards, filename = true, file_row_number = true) as chunks
inner join wanted_texts using (filename, file_row_number)
where not wanted_texts.is_embedded;
