"""Answers for assistants: few tokens, each with its citation `repository path:start-end`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from repolake import sql_files
from repolake.chunk_context import read_chunk
from repolake.errors import QueryError
from repolake.records import SearchHit
from repolake.repository_map import map_lines
from repolake.search import Index

MAX_CHARACTERS = 24_000  # of one answer, some 6,000 tokens
MAX_LINE_CHARACTERS = 240
MAX_CELL_CHARACTERS = 400
SNIPPET_LINES = 12

Filters = dict[str, Any]


def search_answer(
    index: Index, query: str, k: int, mode: str, filters: Filters, *, rerank: str | None = None
) -> str:
    """Return the k best chunks: citation, symbol, id, link, and the first lines.

    Raises what `Index.search` raises.
    """
    hits = index.search(query, k=k, mode=mode, rerank=rerank, **filters)
    notes = [f"note: {note}" for note in hits.notes]
    if not hits:
        return "\n".join((*notes, "no result; try other words or fewer filters"))
    return _cut([*notes, *(_hit(hit) for hit in hits)], "ask for a smaller k, or filter")


def chunk_answer(index: Index, chunk_id: str, context_lines: int) -> str:
    """Return a whole chunk, with lines of its file around it, below its citation.

    Raises QueryError for an id that is no decimal number, UnknownNameError when the index lacks it.
    """
    if not chunk_id.isdecimal():
        raise QueryError(f"{chunk_id!r} is no chunk id", "take the number that search_code shows after #")
    chunk = read_chunk(index, int(chunk_id), context_lines=context_lines)
    first = chunk.context.start_line
    last = first + len(chunk.context.lines) - 1
    head = (
        f"{chunk.repository} {chunk.path}:{first}-{last} of {chunk.context.line_count} lines, {chunk.symbol}"
    )
    lines = [head, *([chunk.url] if chunk.url else []), *map(_line, chunk.context.lines)]
    return _cut(lines, "ask for fewer context_lines")


def grep_answer(index: Index, pattern: str, k: int, filters: Filters) -> str:
    """Return matching lines as `repository path:line [symbol] text`.

    Raises QueryError for what is no regular expression, and what `Index.sql` raises.
    """
    parameters = index.checked_filters(filters) | {"pattern": pattern, "k": k + 1}
    try:
        table = index.sql(sql_files.read("queries/grep"), parameters, max_rows=k + 1)
    except QueryError as error:
        raise QueryError(f"{pattern!r} is no regular expression (RE2)", "correct it") from error
    rows = table.to_pylist()
    if not rows:
        return "no line matches; patterns are RE2 and respect case, (?i) ignores it"
    lines = [
        _line(f"{r['repository']} {r['path']}:{r['line']} [{r['symbol']}] {r['text']}") for r in rows[:k]
    ]
    return _cut(_with_rest(lines, len(rows) > k, "lines"), "ask for a smaller k, or filter")


def map_answer(index: Index, repository: str, token_budget: int) -> str:
    """Return the signatures of a repository's most central files, each file under its path.

    Raises UnknownNameError for a repository that the index does not hold.
    """
    index.checked_filters({"repository": repository})
    rows = index.rows("queries/repo_map", repository=repository, token_budget=token_budget)
    lines = list(map(_line, map_lines(rows)))
    return _cut(lines or ["no source file with definitions fits"], "ask for a smaller token_budget")


def sql_answer(index: Index, query: str, max_rows: int) -> str:
    """Return the first rows of a read-only statement, columns parted by ` | `.

    Raises what `Index.sql` raises.
    """
    table = index.sql(query, max_rows=max_rows + 1)
    columns = [column.to_pylist() for column in table.columns]
    rows = [" | ".join(map(_cell, row)) for row in zip(*columns, strict=True)]
    lines = [" | ".join(table.column_names), *_with_rest(rows[:max_rows], len(rows) > max_rows, "rows")]
    return _cut(lines if rows else [*lines, "no rows"], "name fewer columns, or aggregate")


def _hit(hit: SearchHit) -> str:
    lines = hit.text.rstrip("\n").split("\n")
    shown = [_line(line) for line in lines[:SNIPPET_LINES]]
    if len(lines) > SNIPPET_LINES:
        shown.append(f"… {len(lines) - SNIPPET_LINES} more lines: get_chunk")
    place = f"{hit.repository} {hit.path}:{hit.start_line}-{hit.end_line}"
    head = f"{hit.rank}. {place} {hit.symbol} ({hit.symbol_kind or hit.kind}) #{hit.chunk_id}"
    return "\n".join((head, *([hit.url] if hit.url else []), *shown, ""))


def _with_rest(lines: Sequence[str], is_more: bool, what: str) -> list[str]:
    return [*lines, f"… more {what} exist"] if is_more else list(lines)


def _line(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARACTERS else f"{text[:MAX_LINE_CHARACTERS]}…"


def _cell(value: object) -> str:
    text = "null" if value is None else str(value).replace("\n", "⏎")
    return text if len(text) <= MAX_CELL_CHARACTERS else f"{text[:MAX_CELL_CHARACTERS]}…"


def _cut(parts: Iterable[str], remedy: str) -> str:
    """Join the parts as far as they fit into MAX_CHARACTERS."""
    taken: list[str] = []
    size = 0
    for part in parts:
        size += len(part) + 1
        if size > MAX_CHARACTERS:
            taken.append(f"… cut at {MAX_CHARACTERS:,} characters; {remedy}")
            break
        taken.append(part)
    return "\n".join(taken)
