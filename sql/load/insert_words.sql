-- Which words are there, and in how many chunks does each stand?
insert into words
with
spelled as (
    select distinct unnest(string_split(words, ' ')) as word
    from identifiers
),

keyed as (
    select
        main.word_key(word) as word_key,
        min(word) as word,
    from spelled
    where word <> ''
    group by word_key
),

counts as (
    select
        word_key,
        count(*) as chunk_count,
    from word_weights
    group by word_key
)

select
    word_key,
    keyed.word,
    counts.chunk_count::uinteger as chunk_count,
from keyed
inner join counts using (word_key)
order by word_key;
