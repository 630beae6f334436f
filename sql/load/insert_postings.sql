-- How much does each word speak for each chunk? BM25 (Robertson and Zaragoza 2009) computed once at load, as
-- in BM25S (Lù 2024), in thousandths and as whole numbers: their sum is the same in any order.
insert into postings
with
lengths as (
    select
        ordinal,
        sum(occurrence_count) as word_count,
    from word_counts
    group by ordinal
),

totals as (
    select
        count(*) as chunk_count,
        avg(word_count) as mean_word_count,
    from lengths
)

select
    word_counts.word_key,
    word_counts.ordinal,
    greatest(1, round(
        1000
        * ln(1 + (totals.chunk_count - words.chunk_count + 0.5) / (words.chunk_count + 0.5))
        * word_counts.occurrence_count * (main.bm25_k1() + 1)
        / (
            word_counts.occurrence_count
            + main.bm25_k1() * (1 - main.bm25_b() + main.bm25_b() * lengths.word_count / totals.mean_word_count)
        )
    ))::usmallint as impact,
from word_counts
inner join words using (word_key)
inner join lengths using (ordinal)
cross join totals
order by word_counts.word_key, word_counts.ordinal;
