"""One chunk with the lines around it, put together from the chunks of its file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from repolake.errors import UnknownNameError
from repolake.search import Index

MAX_CHUNK_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class FileLines:
    """Consecutive lines of a file, from `start_line` (1-based), without line feeds; `line_count` of the file.

    A line of white space alone comes as an empty line.
    """

    start_line: int
    lines: tuple[str, ...]
    line_count: int


@dataclass(frozen=True, slots=True)
class ChunkInFile:
    """A chunk, its place, and the lines around it; names are those of the search's columns."""

    chunk_id: int
    repository: str
    ref: str
    commit: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    symbol_kind: str | None
    kind: str
    language: str
    signature: str | None
    text: str
    url: str | None
    last_commit_at: datetime | None
    last_author: str | None
    context: FileLines


def read_chunk(index: Index, chunk_id: int, *, context_lines: int = 0, ref: str | None = None) -> ChunkInFile:
    """Return a chunk with up to `context_lines` lines of its file before and after it.

    Raises UnknownNameError when the index (or that ref) holds no such chunk, QueryTimeoutError and
    DatabaseError when the database could not answer.
    """
    found = index.rows("queries/chunk", chunk_id=chunk_id, ref=ref) if 0 <= chunk_id <= MAX_CHUNK_ID else []
    if not found:
        where = "the index" if ref is None else f"ref {ref!r} of the index"
        raise UnknownNameError(
            f"{where} holds no chunk {chunk_id}", "search again: a changed text has a new id"
        )
    *columns, snapshot_id, line_count, last_commit_at, last_author = found[0]
    _, repository, _, _, path, start_line, end_line = columns[:7]
    first_line = max(1, start_line - context_lines)
    last_line = min(end_line + context_lines, max(line_count or 0, end_line))
    pieces = index.rows(
        "queries/file_pieces",
        snapshot_id=snapshot_id,
        repository=repository,
        path=path,
        first_line=first_line,
        last_line=last_line,
    )
    lines = _lines(pieces, first_line, last_line)
    context = FileLines(first_line, lines, max(line_count or 0, end_line))
    return ChunkInFile(*(*columns, last_commit_at, last_author, context))


def _lines(pieces: list[tuple[int, int, int, int, str]], first_line: int, last_line: int) -> tuple[str, ...]:
    """Return the lines of pieces in file order; what lies between two pieces is white space."""
    lines = [""] * (last_line - first_line + 1)
    previous_end_line = previous_end_byte = -1
    for start_line, end_line, start_byte, end_byte, text in pieces:
        if start_line == previous_end_line and first_line <= start_line <= last_line:
            lines[start_line - first_line] += " " * (start_byte - previous_end_byte)
        for number, line in enumerate(text.split("\n"), start_line):
            if first_line <= number <= last_line:
                lines[number - first_line] += line
        previous_end_line, previous_end_byte = end_line, end_byte
    return tuple(line.removesuffix("\r") for line in lines)
