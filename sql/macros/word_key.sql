-- Under which number does the index keep a word? Stable over DuckDB versions, so any client computes the same.
create macro main.word_key(word) as (md5_number_lower(word) >> 1)::bigint;
comment on macro main.word_key is 'The key of a word in words and postings.';
