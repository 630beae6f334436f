-- How often does each word stand in each chunk of this batch?
insert into word_counts
with
entries as (
    select distinct
        chunk_id,
        ordinal,
    from current_chunks
    where ordinal >= $first_ordinal
        and ordinal < $end_ordinal
),

occurrences as (
    select
        entries.ordinal,
        unnest(string_split(chunk_words.words, ' ')) as word,
    from chunk_words
    inner join entries using (chunk_id)
    where chunk_words.words <> ''
)

select
    main.word_key(word) as word_key,
    ordinal,
    least(count(*), 65535)::usmallint as occurrence_count,
from occurrences
group by word, ordinal;
