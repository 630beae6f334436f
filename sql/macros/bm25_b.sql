-- How much do long chunks pay for their length? BM25's length normalisation.
create macro main.bm25_b() as 0.7;
comment on macro main.bm25_b is 'BM25 length normalisation, 0 to 1.';
