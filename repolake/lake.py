"""The lake on disk: Arrow schemas, atomic shards, run manifests. Parquet is the truth.

    lake/snapshots/<snapshot_id>.parquet                     one row per path seen
    lake/chunks/fingerprint=<chunking fingerprint>/*.parquet  one row per chunk of (blob, language)
    lake/embeddings/model=<model id>/*.parquet               one row per text_hash
    lake/runs/<run_id>.json                                  one manifest a run
    lake/quarantine/                                         shards that could not be read, set aside
    mirrors/                                                 bare mirrors of repositories given by URL

A shard is written under a name that starts with `_`, flushed to disk, then renamed: whatever bears a final
name is whole. A blob without any chunk has one row whose `ordinal` is -1, so that it counts as done.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from repolake.errors import LakeBusyError, LakeFormatError, LakeWriteError
from repolake.records import Failure, Repository, RepositorySpec, Snapshot, Stage

LAKE_FORMAT = 1
SHARD_BYTES = 64 * 1024 * 1024
MODEL_KEY = b"repolake.model_fingerprint"

logger = logging.getLogger(__name__)

TIMESTAMP = pa.timestamp("us", tz="UTC")

SNAPSHOT_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("blob", pa.string()),
        pa.field("size_bytes", pa.int64()),
        pa.field("line_count", pa.int32()),
        pa.field("language", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("encoding", pa.string()),
        pa.field("skip_reason", pa.string()),
        pa.field("skip_rule", pa.string()),
        pa.field("error", pa.string()),
        pa.field("last_commit_at", TIMESTAMP),
        pa.field("last_author", pa.string()),
    ]
)

CHUNK_SCHEMA = pa.schema(
    [
        pa.field("blob", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("symbol", pa.string()),
        pa.field("symbol_kind", pa.string()),
        pa.field("signature", pa.string()),
        pa.field("signature_token_count", pa.int32()),
        pa.field("is_continuation", pa.bool_()),
        pa.field("token_count", pa.int32()),
        pa.field("text", pa.string()),
        pa.field("start_line", pa.int32()),
        pa.field("end_line", pa.int32()),
        pa.field("start_byte", pa.int64()),
        pa.field("end_byte", pa.int64()),
        pa.field("has_syntax_error", pa.bool_(), nullable=False),
    ]
)


def embedding_schema(dimension: int, model_fingerprint: str | None = None) -> pa.Schema:
    """Schema of an embeddings shard: `text_hash`, and the unit vector as a fixed-size list of float32.

    With a fingerprint it is stored in each shard, and shards of another model are not sound.
    """
    return pa.schema(
        [
            pa.field("text_hash", pa.string(), nullable=False),
            pa.field("embedding", pa.list_(pa.float32(), dimension), nullable=False),
        ],
        None if model_fingerprint is None else {MODEL_KEY: model_fingerprint.encode()},
    )


@dataclass(frozen=True, slots=True)
class StageCount:
    """Seconds and counts of one stage of one repository (repository null: the whole run)."""

    stage: Stage
    seconds: float
    repository: str | None = None
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run found, made and left behind: the newest one names the lake's current content."""

    run_id: str
    sequence: int
    started_at: datetime
    finished_at: datetime | None
    state: str  # running, complete, partial or failed; a dead run stays running
    version: str
    chunking_fingerprint: str
    model: dict[str, Any]
    config: dict[str, Any]
    repositories: tuple[Repository, ...]
    snapshots: tuple[Snapshot, ...]
    specs: tuple[RepositorySpec, ...] = ()  # how each repository was asked for, each with its name
    stages: tuple[StageCount, ...] = ()
    failures: tuple[Failure, ...] = ()
    database: str | None = None  # name of the file that was built from exactly this content
    format: int = LAKE_FORMAT


@dataclass(frozen=True, slots=True)
class Decisions:
    """What became of a snapshot's paths; `skipped` counts by skip rule, the most first."""

    indexed: int
    failed: int
    skipped: dict[str, int]


class Lake:
    """The lake of one data folder. Cheap to make; holds no open file."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.root = data_dir / "lake"

    @property
    def snapshots_dir(self) -> Path:
        """Folder of snapshot shards."""
        return self.root / "snapshots"

    @property
    def runs_dir(self) -> Path:
        """Folder of run manifests."""
        return self.root / "runs"

    @property
    def mirrors_dir(self) -> Path:
        """Folder of the bare mirrors of repositories given by URL."""
        return self.data_dir / "mirrors"

    @property
    def quarantine_dir(self) -> Path:
        """Folder of shards that could not be read."""
        return self.root / "quarantine"

    def chunks_dir(self, fingerprint: str) -> Path:
        """Folder of the chunk shards made under one chunking fingerprint."""
        return self.root / "chunks" / f"fingerprint={fingerprint}"

    def embeddings_dir(self, model_id: str) -> Path:
        """Folder of one model's embedding shards."""
        return self.root / "embeddings" / f"model={model_id}"

    def snapshot_path(self, snapshot_id: str) -> Path:
        """Path of one snapshot's shard."""
        return self.snapshots_dir / f"{snapshot_id}.parquet"

    def write_snapshot(self, snapshot_id: str, table: pa.Table) -> None:
        """Store one snapshot's rows, atomically, with the metadata of the table's schema.

        Raises LakeWriteError when the folder cannot be written.
        """
        rows = table.cast(SNAPSHOT_SCHEMA).replace_schema_metadata(table.schema.metadata)
        write_shard(self.snapshot_path(snapshot_id), rows)

    def decisions(self, snapshot_id: str) -> Decisions:
        """Count what became of a snapshot's paths."""
        table = pq.read_table(self.snapshot_path(snapshot_id), columns=["skip_rule", "error"])
        rules = Counter(rule for rule in table.column("skip_rule").to_pylist() if rule is not None)
        failed = table.num_rows - table.column("error").null_count
        return Decisions(table.num_rows - rules.total() - failed, failed, dict(rules.most_common()))

    def shards(self, folder: Path, schema: pa.Schema, *, is_thorough: bool = False) -> list[Path]:
        """Return the sound shards of a folder, oldest first; others are moved to quarantine.

        A thorough look decompresses every column: for the case that a reader stumbled.
        """
        if not folder.is_dir():
            return []
        sound = []
        for path in sorted(folder.iterdir()):
            if path.suffix != ".parquet" or path.name.startswith(("_", ".")) or not path.is_file():
                continue
            if is_sound_shard(path, schema) and not (is_thorough and not _is_readable(path)):
                sound.append(path)
            else:
                self._set_aside(path)
        return sound

    def _set_aside(self, path: Path) -> None:
        logger.warning("%s is no sound shard: set aside in %s", path, self.quarantine_dir)
        with _write_errors(self.quarantine_dir):
            self.quarantine_dir.mkdir(parents=True, exist_ok=True)
            path.rename(self.quarantine_dir / f"{uuid.uuid4().hex[:8]}-{path.name}")

    def write_manifest(self, manifest: Manifest) -> None:
        """Store a manifest, atomically; from then on it names the lake's current content."""
        text = json.dumps(asdict(manifest), default=_to_json, indent=1, ensure_ascii=False)
        _write_atomically(self.runs_dir / f"{manifest.run_id}.json", text.encode())

    def manifests(self) -> list[Manifest]:
        """Return all readable manifests, oldest first.

        Raises LakeFormatError for one written by a newer repolake.
        """
        if not self.runs_dir.is_dir():
            return []
        found = []
        for path in self.runs_dir.glob("*.json"):
            manifest = _read_manifest(path)
            if manifest is None:
                self._set_aside(path)
            else:
                found.append(manifest)
        return sorted(found, key=lambda manifest: manifest.sequence)

    def latest_manifest(self) -> Manifest | None:
        """Return the manifest that names the current content, or None for an empty lake."""
        manifests = self.manifests()
        return manifests[-1] if manifests else None

    @contextmanager
    def lock(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the data folder for one writer; a dead process holds nothing (flock).

        Raises LakeBusyError naming holder and start, LakeWriteError when the folder cannot be written.
        """
        path = self.data_dir / "lock"
        with _write_errors(self.data_dir):
            self.data_dir.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="utf-8")
        with file:
            deadline = time.monotonic() + wait_seconds
            while not _try_lock(file.fileno()):
                if time.monotonic() >= deadline:
                    file.seek(0)
                    holder, _, since = file.read().partition("\n")
                    raise LakeBusyError(str(self.data_dir), holder or "unknown", since.strip())
                time.sleep(0.2)
            with _write_errors(path):
                file.truncate(0)
                file.write(f"process {os.getpid()}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n")
                file.flush()
            yield


class ShardWriter:
    """Collects rows and writes a shard whenever enough bytes came together; `close` writes the rest.

    A crash loses at most what was added since the last shard.
    """

    def __init__(self, folder: Path, schema: pa.Schema, shard_bytes: int = SHARD_BYTES) -> None:
        self._folder = folder
        self._schema = schema
        self._shard_bytes = shard_bytes
        self._tables: list[pa.Table] = []
        self._bytes = 0

    def add(self, table: pa.Table) -> None:
        """Add rows of the writer's schema."""
        self._tables.append(table)
        self._bytes += table.nbytes
        if self._bytes >= self._shard_bytes:
            self.flush()

    def flush(self) -> None:
        """Write what has come together as one shard.

        Raises LakeWriteError when the folder cannot be written.
        """
        if self._tables:
            table = pa.concat_tables(self._tables).cast(self._schema)
            if table.num_rows:
                name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet"
                write_shard(self._folder / name, table)
        self._tables = []
        self._bytes = 0


def write_shard(path: Path, table: pa.Table) -> None:
    """Write one Parquet shard under a name starting with `_`, flush it to disk, rename it.

    Raises LakeWriteError when the folder cannot be written.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    _write_atomically(path, sink.getvalue())


def is_sound_shard(path: Path, schema: pa.Schema) -> bool:
    """Whether the file is Parquet with a readable footer and this schema, its metadata included."""
    try:
        found = pq.read_schema(path)
    except (pa.ArrowInvalid, pa.ArrowException, OSError):
        return False
    metadata = found.metadata or {}
    has_metadata = all(metadata.get(key) == value for key, value in (schema.metadata or {}).items())
    return has_metadata and bool(found.remove_metadata().equals(schema.remove_metadata()))


def _is_readable(path: Path) -> bool:
    try:
        pq.read_table(path)
    except (pa.ArrowException, OSError):
        return False
    return True


def new_run_id(now: datetime) -> str:
    """Return a run id that sorts by time, such as `20260102T030405-1a2b3c`."""
    return f"{now:%Y%m%dT%H%M%S}-{uuid.uuid4().hex[:6]}"


def _write_atomically(path: Path, data: bytes | pa.Buffer) -> None:
    temporary = path.with_name(f"_{os.getpid()}-{uuid.uuid4().hex[:8]}-{path.name}")
    with _write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LakeWriteError(str(path), error.strerror or str(error)) from error


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _to_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _read_manifest(path: Path) -> Manifest | None:
    """Return the manifest, or None when the file is no manifest."""
    try:
        raw = json.loads(path.read_bytes())
        found = int(raw["format"])
    except (ValueError, KeyError, TypeError):
        return None
    if found > LAKE_FORMAT:
        raise LakeFormatError(str(path), found, LAKE_FORMAT)
    return Manifest(
        run_id=raw["run_id"],
        sequence=raw["sequence"],
        started_at=datetime.fromisoformat(raw["started_at"]),
        finished_at=_time(raw["finished_at"]),
        state=raw["state"],
        version=raw["version"],
        chunking_fingerprint=raw["chunking_fingerprint"],
        model=raw["model"],
        config=raw["config"],
        repositories=tuple(
            Repository(**{**row, "indexed_at": datetime.fromisoformat(row["indexed_at"])})
            for row in raw["repositories"]
        ),
        snapshots=tuple(
            Snapshot(
                **{
                    **row,
                    "indexed_at": datetime.fromisoformat(row["indexed_at"]),
                    "committed_at": _time(row["committed_at"]),
                }
            )
            for row in raw["snapshots"]
        ),
        specs=tuple(_spec(row) for row in raw["specs"]),
        stages=tuple(StageCount(**{**row, "stage": Stage(row["stage"])}) for row in raw["stages"]),
        failures=tuple(Failure(**{**row, "stage": Stage(row["stage"])}) for row in raw["failures"]),
        database=raw["database"],
        format=found,
    )


def _spec(row: dict[str, Any]) -> RepositorySpec:
    lists = {name: tuple(row[name]) for name in ("refs", "include", "exclude")}
    return RepositorySpec(**{**row, **lists})


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
