"""Labelled queries: one JSON object a line, each with the targets that answer it.

Keys: `query` and `targets` (each with `path`, and `symbol` and/or `start_line` and `end_line`, and `grade`),
or a single target as `path`, `symbol`, `start_line`, `end_line` of the row itself. Optional: `id`;
`repository` or `corpus` (the search is limited to it); `path_prefix` (the search is limited to this folder);
`category`, `language`, `symbol_in_query`, `split`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from repolake.errors import UsageError
from repolake.metrics import Target

REMEDY = "give one JSON object a line, with `query` and `targets`, as the README shows"
LIKENESS = 0.8  # of an unknown key to a known one, from which it is taken for a slip


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


class _Place(BaseModel):
    path: Annotated[str, BeforeValidator(lambda path: str(PurePosixPath(path)))]
    symbol: str | None = None
    start_line: int | None = Field(None, ge=1)
    end_line: int | None = None
    grade: int = Field(1, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, row: Any) -> Any:
        return _without_slips(row, cls.model_fields)

    @model_validator(mode="after")
    def _is_span(self) -> Self:
        first, last = self.start_line, self.end_line
        if (first is None) != (last is None) or (first is not None and last is not None and last < first):
            raise ValueError(f"lines {first} to {last} are no span")
        return self

    def target(self) -> Target:
        return Target(self.path, self.symbol, self.start_line, self.end_line, self.grade)


class _Row(BaseModel):
    id: str | int | None = None
    query: str
    targets: list[_Place] = []
    path: str | None = None
    repository: str | None = None
    corpus: str | None = None
    path_prefix: str | None = None
    category: str | None = None
    language: str | None = None
    symbol_in_query: bool | None = None
    split: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _knows_its_keys(cls, row: Any) -> Any:
        return _without_slips(row, {*cls.model_fields, *_Place.model_fields})

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not self.query.strip():
            raise ValueError("`query` is empty")
        if not self.targets and self.path is None:
            raise ValueError("no target: give `targets` or `path`")
        return self


def read_labels(path: Path, split: str | None = None) -> list[LabelledQuery]:
    """Return the queries of a JSON Lines file, in its order; with `split`, those of that split alone.

    Raises UsageError naming file, line and what is wrong: not JSON, no query, no target, an unknown key that
    is like a known one, a repeated id; also when nothing is left.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", REMEDY) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8 text", REMEDY) from error
    labels: list[LabelledQuery] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            label = _parse(line, default_id=str(number))
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {_reason(error)}", REMEDY) from error
        if label.query_id in seen:
            raise UsageError(
                f"{path}, line {number}: the id {label.query_id!r} is used twice", "make ids unique"
            )
        seen.add(label.query_id)
        labels.append(label)
    if not labels:
        raise UsageError(f"{path} holds no query", REMEDY)
    chosen = [label for label in labels if split is None or label.split == split]
    if not chosen:
        splits = sorted({label.split for label in labels if label.split is not None})
        known = f"it has {', '.join(splits)}" if splits else "its rows have no `split`"
        raise UsageError(f"{path} holds no query of the split {split!r}", known)
    return chosen


def _parse(line: str, default_id: str) -> LabelledQuery:
    raw = json.loads(line)
    row = _Row.model_validate(raw)
    targets = row.targets or [_Place.model_validate(raw)]
    return LabelledQuery(
        query_id=default_id if row.id is None else str(row.id),
        query=row.query,
        targets=tuple(place.target() for place in targets),
        repository=row.repository or row.corpus,
        path_prefix=row.path_prefix,
        category=row.category,
        language=row.language,
        symbol_in_query=row.symbol_in_query,
        split=row.split,
    )


def _without_slips(row: Any, known: Collection[str]) -> Any:
    """Return the row; other keys are notes of its author, but one like a known key would be lost silently."""
    for key in row if isinstance(row, dict) else ():
        meant = get_close_matches(key, known, n=1, cutoff=LIKENESS)
        if meant and key not in known:
            raise ValueError(f"unknown key `{key}`: is `{meant[0]}` meant?")
    return row


def _reason(error: ValueError) -> str:
    """Say in one clause what is wrong with a row."""
    if not isinstance(error, ValidationError):
        return f"no JSON ({error})"
    first = error.errors()[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if first["type"] == "model_type":
        return "not a JSON object" if not first["loc"] else f"`{_key(first['loc'])}` is not a JSON object"
    if first["type"] == "missing":
        return f"no `{_key(first['loc'])}`"
    return f"`{_key(first['loc'])}`: {first['msg'][0].lower()}{first['msg'][1:]}"


def _key(place: Sequence[str | int]) -> str:
    return ".".join(map(str, place))
