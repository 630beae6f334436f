"""Retrieval quality of variants of the index on labelled queries: side indexes, searches, metrics."""

from __future__ import annotations

import hashlib
import re
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

from repolake.evaluations import Evaluation, QueryResult, Variant, VariantResult
from repolake.label_spans import resolve_labels
from repolake.labels import LabelledQuery, read_labels
from repolake.lake import Lake
from repolake.lengths import length_report
from repolake.metrics import Hit, query_metrics
from repolake.model_identity import resolve_model
from repolake.progress import Progress
from repolake.records import Chunker, Header, SearchMode
from repolake.search import Index, open_index
from repolake.session import Session, open_session
from repolake.settings import Settings
from repolake.side_index import build_side_index

DEPTH = 10
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Grid:
    """What to compare; an empty tuple stands for what the published index has."""

    modes: tuple[SearchMode, ...] = (SearchMode.HYBRID,)
    chunkers: tuple[Chunker, ...] = ()
    models: tuple[str, ...] = ()
    kinds: tuple[str | None, ...] = (None,)
    chunk_tokens: tuple[int, ...] = ()
    headers: tuple[Header, ...] = (Header.NAME,)
    rerankers: tuple[str, ...] = ()


def evaluate(
    label_file: Path, grid: Grid, *, settings: Settings, progress: Progress, split: str | None = None
) -> Evaluation:
    """Run every query against every variant of the grid and return metrics, lengths and latencies.

    Symbols are resolved to lines in the published index, so that labels survive edits of the code; a target
    that no longer resolves stays in, as never found, and is named in `unresolved`.

    Raises UsageError for a wrong label file, IndexMissingError before the first run, and what building a
    side index raises.
    """
    data_dir = settings.data_dir
    labels = read_labels(label_file, split)
    with _session(data_dir, settings) as session:
        resolved, unresolved = resolve_labels(labels, session)
    results = []
    for chunker, header, model, chunk_tokens in _side_indexes(grid, data_dir, settings):
        side_dir = build_side_index(
            data_dir,
            chunker=chunker,
            header=header,
            model=model,
            chunk_tokens=chunk_tokens,
            settings=settings,
            progress=progress,
        )
        manifest = Lake(side_dir).latest_manifest()
        if manifest is None:
            continue
        lengths = length_report(side_dir, int(manifest.model["max_tokens"] or chunk_tokens))
        with open_index(side_dir, settings=settings) as index:
            for mode, reranker in _rankings(grid):
                for kind in grid.kinds:
                    variant = Variant(mode, chunker, model, chunk_tokens, kind, header, reranker)
                    results.append(
                        VariantResult(
                            variant=variant,
                            model_id=str(manifest.model["model_id"]),
                            chunking_fingerprint=manifest.chunking_fingerprint,
                            lengths=lengths,
                            queries=tuple(_results(index, variant, resolved)),
                        )
                    )
    return Evaluation(
        evaluation_id=f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}",
        evaluated_at=datetime.now(UTC),
        queries=label_file.name,
        queries_fingerprint=hashlib.md5(label_file.read_bytes(), usedforsecurity=False).hexdigest(),
        results=tuple(results),
        unresolved=tuple(unresolved),
    )


def _results(index: Index, variant: Variant, labels: Sequence[LabelledQuery]) -> Iterator[QueryResult]:
    # The first query loads the models.
    index.search("warm up", k=1, mode=variant.mode, rerank=variant.reranker)
    for label in labels:
        started = time.perf_counter()
        hits = index.search(
            label.query,
            k=DEPTH,
            mode=variant.mode,
            rerank=variant.reranker,
            kind=variant.kind,
            repository=label.repository,
            path=label.path_prefix,
        )
        seconds = time.perf_counter() - started
        spans = [Hit(hit.path, hit.start_line, hit.end_line) for hit in hits]
        yield QueryResult(
            query_id=label.query_id,
            category=label.category,
            language=label.language,
            symbol_in_query=_has_symbol(label),
            metrics=query_metrics(spans, label.targets),
            seconds=seconds,
        )


def _rankings(grid: Grid) -> Iterator[tuple[SearchMode, str | None]]:
    """Yield each mode as it is, and the hybrid's order by each reranker."""
    for mode in grid.modes:
        yield mode, None
        if mode is SearchMode.HYBRID:
            yield from ((mode, reranker) for reranker in grid.rerankers)


def _has_symbol(label: LabelledQuery) -> bool:
    """Whether the name of a target stands in the query as a word of its own."""
    if label.symbol_in_query is not None:
        return label.symbol_in_query
    words = set(WORD.findall(label.query))
    return any(target.symbol and target.symbol.rpartition(".")[2] in words for target in label.targets)


def _side_indexes(
    grid: Grid, data_dir: Path, settings: Settings
) -> Iterator[tuple[Chunker, Header, str, int]]:
    """Yield chunker, header, model and budget of each side index, without a repetition."""
    manifest = Lake(data_dir).latest_manifest()
    if manifest is None:
        return
    seen = set()
    chunkers = grid.chunkers or (Chunker(manifest.config["chunker"]),)
    for chunker, header in product(chunkers, grid.headers):
        for model in grid.models or (str(manifest.model["name"]),):
            limit = resolve_model(model).max_tokens
            for chunk_tokens in grid.chunk_tokens or (settings.chunk_tokens,):
                budget = min(chunk_tokens, limit or chunk_tokens)
                if (chunker, header, model, budget) not in seen:
                    seen.add((chunker, header, model, budget))
                    yield chunker, header, model, budget


@contextmanager
def _session(data_dir: Path, settings: Settings) -> Iterator[Session]:
    session = open_session(data_dir, settings)
    try:
        yield session
    finally:
        session.close()
