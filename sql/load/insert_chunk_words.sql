-- Which words does BM25 index for each chunk of this batch?
insert into chunk_words
with
entries as (
    select distinct
        ordinal,
        chunk_id,
    from current_chunks
    where ordinal >= $first_ordinal
        and ordinal < $end_ordinal
)

select
    entries.chunk_id,
    trim(regexp_replace(coalesce(string_agg(identifiers.words, ' ' order by batch.identifier), ''), ' +', ' ', 'g'))
        as words,
from entries
left join batch using (ordinal)
left join identifiers using (identifier)
group by entries.ordinal, entries.chunk_id
order by entries.ordinal;
