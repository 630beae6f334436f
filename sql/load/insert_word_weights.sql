-- How much does each word weigh in each chunk of this batch?
insert into word_weights
with
split as (
    select
        batch.ordinal,
        unnest(string_split(identifiers.words, ' ')) as word,
        batch.weight,
    from batch
    inner join identifiers using (identifier)
)

select
    main.word_key(word) as word_key,
    ordinal,
    (sum(weight) / 1000)::float as weight,
from split
where word <> ''
group by word, ordinal;
