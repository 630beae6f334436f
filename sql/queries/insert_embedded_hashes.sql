-- Which texts do these shards hold vectors of?
insert into embedded_hashes
select text_hash from read_parquet($embedding_shards);
