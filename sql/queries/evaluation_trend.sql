-- How did each evaluated variant do over time? Oldest first.
select
    evaluation_id,
    evaluated_at,
    queries,
    query_count,
    model_id,
    chunker,
    chunk_tokens,
    kind,
    header,
    reranker,
    mode,
    metric,
    value,
from main.evaluations
order by evaluated_at, evaluation_id, model_id, chunker, chunk_tokens, kind, header, mode, reranker, metric;
