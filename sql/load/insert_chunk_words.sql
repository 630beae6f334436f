-- Which words does BM25 index for each chunk? A field that weighs more stands in more often.
insert into chunk_words
with
entries as (
    select
        chunk_id,
        min(ordinal) as ordinal,
    from current_chunks
    where ordinal >= $first_ordinal
        and ordinal < $end_ordinal
    group by chunk_id
)

select
    chunks.chunk_id,
    trim(regexp_replace(
        concat_ws(
            ' ',
            repeat(main.split_words(chunks.symbol) || ' ', 3),
            repeat(main.split_words(chunks.path) || ' ', 2),
            main.split_words(concat_ws(' ', chunks.signature, chunks.text))
        ),
        ' +', ' ', 'g'
    )) as words,
from entries
inner join chunks using (chunk_id)
order by entries.ordinal;
