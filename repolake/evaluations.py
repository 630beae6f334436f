"""Evaluations as records, as shards of the lake, and as comparisons of variants and of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

from repolake.errors import UnknownNameError
from repolake.lake import Lake
from repolake.records import Chunker, Header, SearchMode
from repolake.shards import EVALUATION_SCHEMA, read_shard, write_shard
from repolake.significance import Interval, PairedDifference, mean_interval, paired_difference

NAMED = 5  # evaluations in an error message


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to index and search."""

    mode: SearchMode
    chunker: Chunker
    model: str
    chunk_tokens: int
    kind: str | None = None
    header: Header = Header.NAME
    reranker: str | None = None

    @property
    def name(self) -> str:
        """A short label, such as `hybrid ast minilm 256 source`."""
        parts = (self.mode.value, self.index_name, self.kind, self.reranker and f"by {self.reranker}")
        return " ".join(part for part in parts if part)

    @property
    def index_name(self) -> str:
        """A short label of what is searched, such as `ast minilm 256`; the ordinary header is not named."""
        name = f"{self.chunker.value} {self.model} {self.chunk_tokens}"
        return name if self.header is Header.NAME else f"{name} {self.header.value}"


@dataclass(frozen=True, slots=True)
class LengthReport:
    """Tokens of the different texts that a model reads, each with its header and special tokens."""

    text_count: int
    median_tokens: int
    p95_tokens: int
    max_tokens: int
    over_limit_count: int
    characters_per_token: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query gave in one variant; `seconds` is the latency of the search call."""

    query_id: str
    category: str | None
    language: str | None
    symbol_in_query: bool
    metrics: dict[str, float]
    seconds: float


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All queries of one variant; lengths are unknown once it has been stored and read back."""

    variant: Variant
    model_id: str
    chunking_fingerprint: str
    lengths: LengthReport | None
    queries: tuple[QueryResult, ...]

    @property
    def median_milliseconds(self) -> float:
        """Median latency of a search."""
        return 1000 * median(query.seconds for query in self.queries) if self.queries else 0.0

    def interval(self, metric: str, of: Callable[[QueryResult], bool] = lambda _: True) -> Interval | None:
        """Return the mean of a metric over the queries chosen by `of`, or None if none has it."""
        values = [query.metrics[metric] for query in self.queries if metric in query.metrics and of(query)]
        return mean_interval(values) if values else None

    def against(self, baseline: VariantResult, metric: str) -> PairedDifference | None:
        """Compare a metric with another result on the queries that both have; None if they share none."""
        theirs = {query.query_id: query.metrics for query in baseline.queries}
        pairs = [
            (query.metrics[metric], theirs[query.query_id][metric])
            for query in self.queries
            if metric in query.metrics and metric in theirs.get(query.query_id, {})
        ]
        return paired_difference([a for a, _ in pairs], [b for _, b in pairs]) if pairs else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a label file over a grid of variants. `unresolved` names targets that the index lacks."""

    evaluation_id: str
    evaluated_at: datetime
    queries: str
    queries_fingerprint: str
    results: tuple[VariantResult, ...]
    unresolved: tuple[str, ...] = ()


def groups(result: VariantResult) -> Iterator[tuple[str, Callable[[QueryResult], bool]]]:
    """Yield the groups of queries that are reported apart, each with its test."""
    yield "all", lambda _: True
    yield "symbol in query", lambda query: query.symbol_in_query
    yield "no symbol in query", lambda query: not query.symbol_in_query
    for category in sorted({query.category for query in result.queries if query.category}):
        yield f"category {category}", partial(_is_of, "category", category)
    for language in sorted({query.language for query in result.queries if query.language}):
        yield f"language {language}", partial(_is_of, "language", language)


def _is_of(attribute: str, wanted: str, query: QueryResult) -> bool:
    return bool(getattr(query, attribute) == wanted)


def write_evaluation(lake: Lake, evaluation: Evaluation) -> Path:
    """Store an evaluation as one shard, a row per variant, query and metric; return its path.

    Raises LakeWriteError when the folder cannot be written.
    """
    rows = [
        {
            "evaluation_id": evaluation.evaluation_id,
            "evaluated_at": evaluation.evaluated_at,
            "queries": evaluation.queries,
            "queries_fingerprint": evaluation.queries_fingerprint,
            "mode": result.variant.mode.value,
            "chunker": result.variant.chunker.value,
            "model": result.variant.model,
            "model_id": result.model_id,
            "chunk_tokens": result.variant.chunk_tokens,
            "kind": result.variant.kind,
            "header": result.variant.header.value,
            "reranker": result.variant.reranker,
            "chunking_fingerprint": result.chunking_fingerprint,
            "query_id": query.query_id,
            "category": query.category,
            "language": query.language,
            "symbol_in_query": query.symbol_in_query,
            "seconds": query.seconds,
            "metric": metric,
            "value": value,
        }
        for result in evaluation.results
        for query in result.queries
        for metric, value in query.metrics.items()
    ]
    path = lake.evaluations_dir / f"{evaluation.evaluation_id}.parquet"
    write_shard(path, pa.Table.from_pylist(rows, schema=EVALUATION_SCHEMA))
    return path


def latest_evaluation(lake: Lake, queries: str) -> Evaluation | None:
    """Return the newest stored evaluation of the label file of that name, or None before the first."""
    for path in reversed(lake.shards(lake.evaluations_dir, EVALUATION_SCHEMA)):
        if read_shard(path, ["queries"])["queries"][0].as_py() == queries:
            return _read(path)
    return None


def read_evaluation(lake: Lake, name: str) -> Evaluation:
    """Return a stored evaluation by its id or an unambiguous beginning of it; `latest` is the newest.

    Raises UnknownNameError when there is none or several.
    """
    shards = lake.shards(lake.evaluations_dir, EVALUATION_SCHEMA)
    found = shards[-1:] if name == "latest" else [path for path in shards if path.stem.startswith(name)]
    if len(found) != 1:
        known = ", ".join(path.stem for path in shards[-NAMED:]) or "there is none"
        raise UnknownNameError(f"no single evaluation is named {name!r}", f"the newest: {known}")
    return _read(found[0])


def _read(path: Path) -> Evaluation:
    rows = read_shard(path).to_pylist()
    by_variant: dict[Variant, dict[str, list[dict[str, Any]]]] = {}
    for row in rows:
        variant = Variant(
            mode=SearchMode(row["mode"]),
            chunker=Chunker(row["chunker"]),
            model=row["model"],
            chunk_tokens=row["chunk_tokens"],
            kind=row["kind"],
            header=Header(row["header"]),
            reranker=row["reranker"],
        )
        by_variant.setdefault(variant, {}).setdefault(row["query_id"], []).append(row)
    first = rows[0]
    return Evaluation(
        first["evaluation_id"],
        first["evaluated_at"],
        first["queries"],
        first["queries_fingerprint"],
        tuple(_variant_result(variant, queries) for variant, queries in by_variant.items()),
    )


def _variant_result(variant: Variant, queries: dict[str, list[dict[str, Any]]]) -> VariantResult:
    first = next(iter(queries.values()))[0]
    return VariantResult(
        variant,
        str(first["model_id"]),
        str(first["chunking_fingerprint"]),
        None,
        tuple(_query_result(query_id, rows) for query_id, rows in queries.items()),
    )


def _query_result(query_id: str, rows: list[dict[str, Any]]) -> QueryResult:
    first = rows[0]
    metrics = {row["metric"]: row["value"] for row in rows}
    return QueryResult(
        query_id, first["category"], first["language"], first["symbol_in_query"], metrics, first["seconds"]
    )
