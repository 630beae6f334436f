-- From which shard are the chunks of each content read?
-- A blob that two runs chunked stands in two shards with equal rows: the first one counts.
create temp table first_shards as
select
    blob,
    language,
    min(filename) as filename,
from read_parquet($chunk_shards, filename = true)
group by blob, language;
