-- The vectors of all texts of current snapshots, in the order that `embedding_row` promises.
insert into embeddings
select
    text_hash,
    shards.embedding::float[dimension] as embedding,
from read_parquet($embedding_shards, filename = true, file_row_number = true) as shards
inner join embedded_hashes using (text_hash, filename, file_row_number)
order by embedded_hashes.embedding_row;
