"""Labelled queries: one JSON object a line, each with the targets that answer it.

Keys: `query` and `targets` (each with `path`, and `symbol` and/or `start_line` and `end_line`, and `grade`),
or a single target as `path`, `symbol`, `start_line`, `end_line` of the row itself. Optional: `id`;
`repository` or `corpus` (the search is limited to it); `path_prefix` (the search is limited to this folder);
`category`, `language`, `symbol_in_query`, `split`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repolake.errors import UsageError
from repolake.metrics import Target


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """One question with its accepted answers, as written in the file."""

    query_id: str
    query: str
    targets: tuple[Target, ...]
    repository: str | None = None
    path_prefix: str | None = None
    category: str | None = None
    language: str | None = None
    symbol_in_query: bool | None = None
    split: str | None = None


def read_labels(path: Path) -> list[LabelledQuery]:
    """Return the queries of a JSON Lines file, in its order.

    Raises UsageError naming file, line and what is wrong: not JSON, no query, no target, a repeated id.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read {path}: {error}", "give a JSON Lines file of labelled queries"
        ) from error
    labels: list[LabelledQuery] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            label = _parse(json.loads(line), default_id=str(number))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(
                f"{path}, line {number}: {error}", "see the README for the keys of a label"
            ) from error
        if label.query_id in seen:
            raise UsageError(
                f"{path}, line {number}: the id {label.query_id!r} is used twice", "make ids unique"
            )
        seen.add(label.query_id)
        labels.append(label)
    if not labels:
        raise UsageError(f"{path} holds no query", "give a JSON Lines file of labelled queries")
    return labels


def _parse(row: dict[str, Any], default_id: str) -> LabelledQuery:
    query = row.get("query")
    if not isinstance(query, str) or not query.strip():
        raise ValueError("no query")
    targets = tuple(_targets(row))
    if not targets:
        raise ValueError("no target: give `targets` or `path`")
    return LabelledQuery(
        query_id=str(row.get("id", default_id)),
        query=query,
        targets=targets,
        repository=row.get("repository") or row.get("corpus"),
        path_prefix=row.get("path_prefix"),
        category=row.get("category"),
        language=row.get("language"),
        symbol_in_query=row.get("symbol_in_query"),
        split=row.get("split"),
    )


def _targets(row: dict[str, Any]) -> Iterator[Target]:
    rows = row.get("targets") or ([row] if row.get("path") else [])
    for target in rows:
        start, end = target.get("start_line"), target.get("end_line")
        if (start is None) != (end is None) or (start is not None and not 1 <= int(start) <= int(end)):
            raise ValueError(f"lines {start} to {end} are no span")
        grade = int(target.get("grade", 1))
        if grade < 1:
            raise ValueError(f"grade {grade} is below 1")
        yield Target(str(target["path"]), target.get("symbol"), start, end, grade)
