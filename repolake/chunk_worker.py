"""A worker process of the chunk stage: bytes of files in, rows of chunks out.

It runs apart because a native parser can crash or hang: that must cost one file, not the run. It imports
little, so that it starts in a fifth of a second. It ends when its parent does (the connection closes), and a
file that takes too long ends it by an alarm that native code cannot ignore.
"""

from __future__ import annotations

import gc
import resource
import signal
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from repolake.records import Chunker
from repolake.splitter import Chunk, FileChunks, split
from repolake.text_decoding import file_text
from repolake.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """How the files are cut; sent once to each worker."""

    tokenizer_file: str
    budget: int
    chunker: Chunker
    timeout_seconds: float
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class FileJob:
    """One file to cut. `number` comes back with the result."""

    number: int
    path: str
    language: str
    data: bytes


class ListColumn(NamedTuple):
    """A column that has a list of structs in each chunk: how many each has, and all structs by field.

    No fields at all where no chunk has any.
    """

    lengths: list[int]
    fields: list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class FileResult:
    """The chunks of one file by column, or what went wrong.

    By column they cross to the other process at half the cost of rows. `columns` has one tuple for each of
    CHUNK_COLUMNS, or is empty where there are no chunks; so is `lists` for LIST_COLUMNS.
    """

    number: int
    chunk_count: int
    columns: list[tuple[object, ...]]
    lists: list[ListColumn]
    has_syntax_error: bool = False
    note: str | None = None
    error: str | None = None


READY = "ready"
BUSY_FACTOR = 10  # how much longer than its processor time a file may take on a busy machine
CHUNK_COLUMNS = (*Chunk._fields, "text")
LIST_COLUMNS = ("symbols", "symbol_references", "imports")


def failed(number: int, error: str) -> FileResult:
    """Return the result of a file that could not be cut."""
    return FileResult(number, 0, [], [], error=error)


def chunk_file(job: FileJob, config: WorkerConfig, counter: TokenCounter) -> FileResult:
    """Decode and cut one file."""
    decoded = file_text(job.path, job.language, job.data)
    if decoded is None:
        return failed(job.number, "its bytes are no text in any known encoding")
    found = split(decoded.text, job.language, config.budget, counter, config.chunker)
    data = decoded.text.encode()
    chunks = found.chunks
    columns: list[tuple[object, ...]] = []
    if chunks:
        texts = tuple(data[chunk.start_byte : chunk.end_byte].decode() for chunk in chunks)
        columns = [*zip(*chunks, strict=True), texts]
    return FileResult(job.number, len(chunks), columns, _lists(found), found.has_syntax_error, found.note)


def _lists(found: FileChunks) -> list[ListColumn]:
    """Return the symbols, references and imports that begin in each chunk."""
    if not found.chunks:
        return []
    limits = [chunk.start_byte for chunk in found.chunks[1:]]
    definitions, references, imports, reference_starts = found.references
    columns: tuple[tuple[Sequence[tuple[object, ...]], Sequence[int]], ...] = (
        ([entry[:5] for entry in definitions], [entry.start_byte for entry in definitions]),
        (references, reference_starts),
        ([entry[:4] for entry in imports], [entry.start_byte for entry in imports]),
    )
    lists = []
    for rows, starts in columns:
        bounds = [0, *(bisect_left(starts, limit) for limit in limits), len(starts)]
        lists.append(ListColumn([b - a for a, b in pairwise(bounds)], list(zip(*rows, strict=True))))
    return lists


def _limit_memory(most_bytes: int) -> None:
    """Let allocations beyond a limit fail: the kernel would end the largest process, not this one.

    Python ends with MemoryError then, the tokenizer with SIGABRT and tree-sitter with SIGSEGV: each costs the
    file at hand. Linux counts all private memory (RLIMIT_DATA); elsewhere the limit has no effect.
    """
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard == resource.RLIM_INFINITY or most_bytes < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, hard))


def serve(connection: Connection) -> None:
    """Say READY, then answer lists of jobs until the other side closes the connection."""
    try:
        config: WorkerConfig = connection.recv()
        _limit_memory(config.memory_bytes)
        counter = TokenCounter.load(Path(config.tokenizer_file))
        # Syntax nodes and rows die by their reference counts: looking for cycles among them is in vain.
        gc.disable()
        gc.freeze()
        connection.send(READY)
        while True:
            jobs: list[FileJob] = connection.recv()
            results = []
            for job in jobs:
                # Processor time, not the clock: a busy machine must not turn slow files into failures.
                signal.setitimer(signal.ITIMER_PROF, config.timeout_seconds)
                signal.setitimer(signal.ITIMER_REAL, config.timeout_seconds * BUSY_FACTOR)
                results.append(chunk_file(job, config, counter))
                signal.setitimer(signal.ITIMER_PROF, 0)
                signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send(results)
            del jobs, results
            gc.collect()
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return


def main() -> None:
    """Serve the connection whose descriptor is the last argument."""
    # Ctrl-C reaches the whole process group; the parent decides what becomes of its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    serve(Connection(int(sys.argv[-1])))
