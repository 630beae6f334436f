"""The map of a repository as text: each file, below it its signatures with their lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def map_lines(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Return the lines of the rows of `queries/repo_map`: a path, then its signatures, indented."""
    lines: list[str] = []
    path = ""
    for _, found, start_line, _, signature, _ in rows:
        if found != path:
            path = found
            lines.append(path)
        lines.append(f"  {start_line}: {signature}")
    return lines
