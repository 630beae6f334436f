-- Which words are there, and in how many chunks does each stand?
insert into words
with
spelled as (
    select distinct unnest(string_split(words, ' ')) as word
    from chunk_words
),

counts as (
    select
        word_key,
        count(*) as chunk_count,
    from word_counts
    group by word_key
)

select
    counts.word_key,
    min(spelled.word) as word,
    min(counts.chunk_count)::uinteger as chunk_count,
from spelled
inner join counts on counts.word_key = main.word_key(spelled.word)
group by counts.word_key
order by counts.word_key;
