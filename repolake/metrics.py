"""Retrieval metrics of one query, each within 0..1, from ranked hits and graded targets.

A hit touches a target when it is in the target's file and shares a line with it (any line, if the target
is a whole file). A target counts once, at the first hit that touches it, and a hit earns at most one gain,
so repeated hits and several chunks of one target can never lift a metric above 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CUTOFFS = (1, 5, 10)
NDCG_DEPTH = 10
METRICS = (
    *(f"{name}@{k}" for name in ("touched", "whole", "recall", "file_recall") for k in CUTOFFS),
    *("mrr@10", "file_mrr@10", "ndcg@10", "file_ndcg@10"),
)


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked result: a span of lines, 1-based and inclusive, in a file."""

    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Target:
    """One accepted answer; without lines the whole file is the answer. `grade` 2 is primary, 1 secondary."""

    path: str
    symbol: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    grade: int = 1

    def is_touched_by(self, hit: Hit) -> bool:
        """Whether the hit shares a line with this target."""
        if hit.path != self.path:
            return False
        if self.start_line is None or self.end_line is None:
            return True
        return hit.start_line <= self.end_line and self.start_line <= hit.end_line

    def is_held_whole_by(self, hit: Hit) -> bool:
        """Whether the hit holds every line of this target; never true for a whole file."""
        if self.start_line is None or self.end_line is None or hit.path != self.path:
            return False
        return hit.start_line <= self.start_line and self.end_line <= hit.end_line


def query_metrics(hits: Sequence[Hit], targets: Sequence[Target]) -> dict[str, float]:
    """Return every metric of one query.

    `touched@k`: 1 if some hit of the first k touches a target. `whole@k`: 1 if one of them holds a whole
    target (absent when all targets are files). `recall@k`: share of targets touched in the first k. `mrr@10`:
    reciprocal rank of the first touching hit. `ndcg@10`: graded, linear gain, log2 discount (Järvelin and
    Kekäläinen, 2002). `file_*`: the same on distinct files in the order of their first hit.

    Raises ValueError without any target.
    """
    if not targets:
        raise ValueError("a query needs at least one target")
    first_ranks = [_first_rank(hits, target) for target in targets]
    files = list(dict.fromkeys(hit.path for hit in hits))
    grades: dict[str, int] = {}
    for target in targets:
        grades[target.path] = max(target.grade, grades.get(target.path, 0))
    file_ranks = [files.index(path) + 1 if path in files else None for path in grades]

    metrics: dict[str, float] = {}
    has_spans = any(target.start_line is not None for target in targets)
    for k in CUTOFFS:
        metrics[f"touched@{k}"] = float(any(_within(rank, k) for rank in first_ranks))
        if has_spans:
            metrics[f"whole@{k}"] = float(
                any(target.is_held_whole_by(hit) for hit in hits[:k] for target in targets)
            )
        metrics[f"recall@{k}"] = _share(first_ranks, k)
        metrics[f"file_recall@{k}"] = _share(file_ranks, k)
    metrics["mrr@10"] = _reciprocal(first_ranks)
    metrics["file_mrr@10"] = _reciprocal(file_ranks)
    metrics["ndcg@10"] = _ndcg(first_ranks, [target.grade for target in targets])
    metrics["file_ndcg@10"] = _ndcg(file_ranks, list(grades.values()))
    return metrics


def _first_rank(hits: Sequence[Hit], target: Target) -> int | None:
    return next((rank for rank, hit in enumerate(hits, 1) if target.is_touched_by(hit)), None)


def _within(rank: int | None, k: int) -> bool:
    return rank is not None and rank <= k


def _share(ranks: Sequence[int | None], k: int) -> float:
    return sum(_within(rank, k) for rank in ranks) / len(ranks)


def _reciprocal(ranks: Sequence[int | None]) -> float:
    return max((1.0 / rank for rank in ranks if rank is not None and rank <= NDCG_DEPTH), default=0.0)


def _ndcg(ranks: Sequence[int | None], grades: Sequence[int]) -> float:
    gains: dict[int, int] = {}
    for rank, grade in zip(ranks, grades, strict=True):
        if rank is not None and rank <= NDCG_DEPTH:
            gains[rank] = max(grade, gains.get(rank, 0))
    ideal = sorted(grades, reverse=True)[:NDCG_DEPTH]
    return _dcg(gains.items()) / _dcg(enumerate(ideal, 1))


def _dcg(gains: Iterable[tuple[int, int]]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in gains)
