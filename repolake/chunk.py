"""The chunk stage: cut what the lake has no chunks of yet, and store the chunks.

Each (blob, language) is cut once per chunking fingerprint, wherever it occurs. Files are cut in worker
processes even if there are few: a worker starts in a fifth of a second, and a crash of a native parser in
this process would end the run.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from repolake.chunk_worker import (
    CHUNK_COLUMNS,
    LIST_COLUMNS,
    FileJob,
    FileResult,
    ListColumn,
    WorkerConfig,
)
from repolake.cores import usable_core_count
from repolake.errors import SettingsError, SourceError
from repolake.grammars import GRAMMARS
from repolake.lake import Lake
from repolake.progress import Progress, SilentProgress
from repolake.records import Chunker, ChunkReport, Failure, Snapshot, Source, Stage
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, ShardWriter, read_shard
from repolake.shares import shares
from repolake.source import open_source
from repolake.splitter import SMALLEST_BUDGET
from repolake.worker_pool import WorkerPool

CHUNKER_VERSION = 5  # raise it with every change that moves a cut or changes a symbol or reference
BYTES_PER_WORKER = 2 * 1024 * 1024  # a second worker pays for its start from about here
NO_CHUNK_ORDINAL = -1
NO_LISTS = ListColumn([0], [])


class _Place(NamedTuple):
    """A path in the snapshot at a position among those of the call."""

    position: int
    path: str


@dataclass(slots=True)
class _Missing:
    """A blob to be cut as one language, and its place in each snapshot that needs it; one is read."""

    blob: str
    language: str
    size_bytes: int
    places: list[_Place]
    read_at: _Place


@dataclass(slots=True)
class _Counts:
    """What one snapshot got."""

    blobs_chunked: int = 0
    chunks_new: int = 0
    bytes_chunked: int = 0
    syntax_error_count: int = 0


def chunking_fingerprint(budget: int, tokenizer_fingerprint: str, chunker: Chunker) -> str:
    """Return a short hex string: equal if the same bytes give the same chunks.

    Versions of the installed grammars are part of it: another grammar may see other definitions.
    """
    parts = [str(CHUNKER_VERSION), str(budget), tokenizer_fingerprint, chunker.value]
    if chunker is Chunker.AST:
        packages = sorted({grammar.package for grammar in GRAMMARS.values()} | {"tree_sitter"})
        parts.extend(f"{package} {_version(package)}" for package in packages)
    return hashlib.md5("\n".join(parts).encode(), usedforsecurity=False).hexdigest()[:12]


def chunk(
    sources: Sequence[tuple[Snapshot, Source]],
    *,
    lake: Lake,
    fingerprint: str,
    tokenizer_file: Path,
    budget: int,
    chunker: Chunker,
    settings: Settings,
    progress: Progress | None = None,
) -> tuple[ChunkReport | SourceError, ...]:
    """Cut the files of these snapshots that have no chunks under `fingerprint`, and store the chunks.

    Returns one report a snapshot, in their order, or the error of one whose repository or folder is gone; a
    blob that several need counts for the first where it can be read. `budget` is the most tokens of one
    embedded text, header and special tokens included. A file that cannot be read or cut is a failure in the
    report and has no rows, so that the next run tries it again.

    Raises SettingsError for a budget without room for text, LakeWriteError when the lake cannot be written.
    """
    if budget < SMALLEST_BUDGET:
        raise SettingsError(
            f"a budget of {budget} tokens leaves no room for code", f"use at least {SMALLEST_BUDGET}"
        )
    started = time.monotonic()
    progress = progress or SilentProgress()
    missing = _missing(sources, lake, fingerprint)
    progress.start(Stage.CHUNK, "files", len(missing))
    run = _Run(sources, missing, ShardWriter(lake.chunks_dir(fingerprint), CHUNK_SCHEMA), progress)
    if missing:
        config = WorkerConfig(
            str(tokenizer_file),
            budget,
            chunker,
            settings.chunk_timeout_seconds,
            settings.chunk_memory_bytes,
        )
        size = sum(file.size_bytes for file in missing)
        most = settings.workers or usable_core_count()
        count = min(most, 1 + size // BYTES_PER_WORKER)
        with ExitStack() as opened, WorkerPool(config, count) as pool:
            for results in pool.results(run.jobs(opened)):
                run.store(results)
    run.writer.flush()
    progress.finish(Stage.CHUNK)
    seconds = shares(time.monotonic() - started, [counts.bytes_chunked for counts in run.counts])
    return tuple(run.outcome(position, seconds[position]) for position in range(len(sources)))


class _Run:
    """What one call of `chunk` has done so far; lists have one entry a snapshot."""

    def __init__(
        self,
        sources: Sequence[tuple[Snapshot, Source]],
        missing: list[_Missing],
        writer: ShardWriter,
        progress: Progress,
    ) -> None:
        self.sources = sources
        self.missing = missing
        self.writer = writer
        self.progress = progress
        self.counts = [_Counts() for _ in sources]
        self.failures: list[list[Failure]] = [[] for _ in sources]
        self.notes: list[set[str]] = [set() for _ in sources]
        self.gone: dict[int, SourceError] = {}

    def outcome(self, position: int, seconds: float) -> ChunkReport | SourceError:
        """Return the report of a snapshot, or the error of one that could not be opened."""
        if position in self.gone:
            return self.gone[position]
        counts = self.counts[position]
        return ChunkReport(
            blobs_chunked=counts.blobs_chunked,
            chunks_new=counts.chunks_new,
            bytes_chunked=counts.bytes_chunked,
            syntax_error_count=counts.syntax_error_count,
            seconds=seconds,
            failures=tuple(self.failures[position]),
            notes=tuple(sorted(self.notes[position])),
        )

    def jobs(self, opened: ExitStack) -> Iterator[FileJob]:
        """Read the missing files one by one; what cannot be read is a failure."""
        reader = _Reader(self.sources, self.gone, opened)
        for number, file in enumerate(self.missing):
            data = self._read(file, reader)
            if data is None:
                self.progress.advance(Stage.CHUNK, 1)
            else:
                yield FileJob(number, file.read_at.path, file.language, data)

    def _read(self, file: _Missing, reader: _Reader) -> bytes | None:
        """Return the content from the first place where it can be read."""
        errors = []
        for place in file.places:
            if place.position in self.gone:
                continue
            try:
                data = reader.read(place, file.blob)
            except SourceError as error:
                errors.append((place, str(error)))
            else:
                file.read_at = place
                return data
        for place, reason in errors:
            self._fail(file, place, reason)
        return None

    def store(self, results: list[FileResult]) -> None:
        """Write the rows of some files; all rows of a blob go into one shard."""
        sound = []
        for result in results:
            file = self.missing[result.number]
            if result.note is not None:
                self.notes[file.read_at.position].add(result.note)
            if result.error is not None:
                for place in file.places:
                    self._fail(file, place, result.error)
                continue
            sound.append(result)
            counts = self.counts[file.read_at.position]
            counts.blobs_chunked += 1
            counts.chunks_new += result.chunk_count
            counts.bytes_chunked += file.size_bytes
            counts.syntax_error_count += result.has_syntax_error
        if sound:
            self.writer.add(_table(sound, self.missing))
        self.progress.advance(Stage.CHUNK, len(results))

    def _fail(self, file: _Missing, place: _Place, reason: str) -> None:
        snapshot, _ = self.sources[place.position]
        failure = Failure(snapshot.repository, place.path, Stage.CHUNK, reason, file.blob)
        self.failures[place.position].append(failure)


class _Reader:
    """Reads the files of several snapshots, with one source open at a time: they may be hundreds."""

    def __init__(
        self,
        sources: Sequence[tuple[Snapshot, Source]],
        gone: dict[int, SourceError],
        opened: ExitStack,
    ) -> None:
        self._sources = sources
        self._gone = gone
        self._opened = opened
        self._source: Source | None = None

    def read(self, place: _Place, blob: str) -> bytes:
        """Return the content of a file.

        Raises SourceError when it cannot be read, or its repository or folder is gone, which is noted.
        """
        _, source = self._sources[place.position]
        if source != self._source:
            self._opened.close()
            self._source = None
            try:
                self._files = self._opened.enter_context(open_source(source))
            except SourceError as error:
                self._gone[place.position] = error
                raise
            self._source = source
        return self._files.read(place.path, blob)


def _missing(sources: Sequence[tuple[Snapshot, Source]], lake: Lake, fingerprint: str) -> list[_Missing]:
    known = _known(lake, fingerprint)
    missing: dict[tuple[str, str], _Missing] = {}
    for position, (snapshot, _) in enumerate(sources):
        table = read_shard(
            lake.snapshot_path(snapshot.snapshot_id),
            columns=["path", "blob", "size_bytes", "language", "skip_reason", "error"],
        )
        indexed = pc.and_(pc.is_null(table["skip_reason"]), pc.is_null(table["error"]))
        for row in table.filter(indexed).to_pylist():
            key = (row["blob"], row["language"])
            if key in known:
                continue
            place = _Place(position, row["path"])
            if key not in missing:
                missing[key] = _Missing(*key, row["size_bytes"] or 0, [place], place)
            elif missing[key].places[-1].position != position:
                missing[key].places.append(place)
    return list(missing.values())


def _known(lake: Lake, fingerprint: str) -> set[tuple[str, str]]:
    """Return every (blob, language) that has rows: its first chunk, or the row that says there is none."""
    known: set[tuple[str, str]] = set()
    for shard in lake.shards(lake.chunks_dir(fingerprint), CHUNK_SCHEMA):
        table = read_shard(shard, columns=["blob", "language"], filters=[("ordinal", "<=", 0)])
        known.update(zip(table["blob"].to_pylist(), table["language"].to_pylist(), strict=True))
    return known


def _table(results: list[FileResult], missing: list[_Missing]) -> pa.Table:
    """Return the chunks of some files; of a file without any, the row that says so."""
    counts = [max(result.chunk_count, 1) for result in results]
    files = [missing[result.number] for result in results]
    columns: dict[str, list[object] | pa.ListArray] = {
        "blob": _repeated([file.blob for file in files], counts),
        "language": _repeated([file.language for file in files], counts),
        "has_syntax_error": _repeated([result.has_syntax_error for result in results], counts),
        "ordinal": _joined(
            range(result.chunk_count) if result.chunk_count else [NO_CHUNK_ORDINAL] for result in results
        ),
    }
    for number, name in enumerate(CHUNK_COLUMNS):
        columns[name] = _joined(result.columns[number] if result.columns else [None] for result in results)
    for number, name in enumerate(LIST_COLUMNS):
        lists = [result.lists[number] if result.lists else NO_LISTS for result in results]
        columns[name] = _list_array(lists, CHUNK_SCHEMA.field(name).type)
    return pa.table(columns, schema=CHUNK_SCHEMA)


def _repeated(values: Iterable[object], counts: Iterable[int]) -> list[object]:
    return _joined(map(repeat, values, counts))


def _joined(parts: Iterable[Iterable[object]]) -> list[object]:
    return list(chain.from_iterable(parts))


def _list_array(lists: list[ListColumn], kind: pa.ListType) -> pa.ListArray:
    fields = list(kind.value_type)
    values = [
        pa.array(_joined(column.fields[number] for column in lists if column.fields), field.type)
        for number, field in enumerate(fields)
    ]
    lengths = chain.from_iterable(column.lengths for column in lists)
    offsets = pa.array(list(accumulate(lengths, initial=0)), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(values, fields=fields), type=kind)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return "missing"
