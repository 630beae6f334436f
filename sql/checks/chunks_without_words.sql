-- Current chunks that BM25 does not know though they hold words.
select w.chunk_id
from main.chunk_words as w
inner join main.current_chunks as c on c.chunk_id = w.chunk_id
where w.words <> ''
    and c.ordinal not in (select p.ordinal from main.postings as p);
