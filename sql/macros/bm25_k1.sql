-- How fast does a repeated word stop counting? BM25's saturation.
create macro main.bm25_k1() as 1.8;
comment on macro main.bm25_k1 is 'BM25 saturation of repeated words.';
