-- How much does each word speak for each chunk? BM25 (Robertson and Zaragoza 2009) computed once at load, as
-- in BM25S (Lù 2024), in thousandths and as whole numbers: their sum is the same in any order.
insert into postings
select
    word_weights.word_key,
    word_weights.ordinal,
    greatest(1, round(
        1000
        * ln(1 + ($chunk_count - words.chunk_count + 0.5) / (words.chunk_count + 0.5))
        * word_weights.weight * (main.bm25_k1() + 1) / (word_weights.weight + main.bm25_k1())
    ))::usmallint as impact,
from word_weights
inner join words using (word_key)
order by word_weights.word_key, word_weights.ordinal;
