-- How did each evaluated variant do, by metric? From the lake's evaluations, a row per variant, query and metric.
insert into evaluations by name
select
    e.evaluation_id,
    e.evaluated_at,
    e.queries,
    count(distinct e.query_id)::integer as query_count,
    e.model_id,
    e.chunker,
    e.chunk_tokens,
    e.kind,
    e.header,
    e.reranker,
    e.mode,
    e.metric,
    avg(e.value) as value,
from read_parquet($evaluation_shards) as e
group by all
order by
    e.evaluated_at,
    e.evaluation_id,
    e.model_id,
    e.chunker,
    e.chunk_tokens,
    e.kind,
    e.header,
    e.mode,
    e.reranker,
    e.metric;
