"""The lake on disk: where its shards and manifests are, and who may write. Parquet is the truth.

    lake/snapshots/<snapshot_id>.parquet                     one row per path seen
    lake/chunks/fingerprint=<chunking fingerprint>/*.parquet  one row per chunk of (blob, language)
    lake/embeddings/model=<model id>/*.parquet               one row per text_hash
    lake/evaluations/<evaluation id>.parquet                 one row per variant, query and metric
    lake/runs/<run_id>.json                                  one manifest a run
    lake/quarantine/                                         shards that could not be read, set aside
    lake/purged/<blob>                                       contents that must not come back, one file each
    mirrors/                                                 bare mirrors of repositories given by URL

A shard is written under a name that starts with `_`, flushed to disk, then renamed: whatever bears a final
name is whole. A blob without any chunk has one row whose `ordinal` is -1, so that it counts as done.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from repolake.errors import LakeBusyError
from repolake.manifest import Manifest, manifest_bytes, read_manifest
from repolake.shards import (
    SNAPSHOT_SCHEMA,
    is_readable_shard,
    is_sound_shard,
    read_shard,
    write_atomically,
    write_errors,
    write_shard,
)

logger = logging.getLogger(__name__)

SIDE_FOLDER = "evaluate"  # side indexes of evaluations, which share this lake's shards


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
    def evaluations_dir(self) -> Path:
        """Folder of evaluation shards."""
        return self.root / "evaluations"

    @property
    def purged_dir(self) -> Path:
        """Folder with one file per blob that must not come back."""
        return self.root / "purged"

    def purged_blobs(self) -> frozenset[str]:
        """Return the blobs that scans leave out because somebody had them purged."""
        if not self.purged_dir.is_dir():
            return frozenset()
        return frozenset(path.name.partition(".")[0] for path in self.purged_dir.iterdir())

    def side_lakes(self) -> list[Lake]:
        """Return the lakes of side indexes, which share this lake's shards and rest on some of them."""
        folder = self.data_dir / SIDE_FOLDER
        return [Lake(path) for path in sorted(folder.iterdir())] if folder.is_dir() else []

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

    def holds_snapshot(self, snapshot_id: str) -> bool:
        """Whether the snapshot's shard is there."""
        return self.snapshot_path(snapshot_id).is_file()

    def write_snapshot(self, snapshot_id: str, table: pa.Table) -> None:
        """Store one snapshot's rows, atomically, with the metadata of the table's schema.

        Raises LakeWriteError when the folder cannot be written.
        """
        rows = table.cast(SNAPSHOT_SCHEMA).replace_schema_metadata(table.schema.metadata)
        write_shard(self.snapshot_path(snapshot_id), rows)

    def decisions(self, snapshot_id: str) -> Decisions:
        """Count what became of a snapshot's paths.

        Raises LakeReadError when its shard is damaged or gone.
        """
        table = read_shard(self.snapshot_path(snapshot_id), columns=["skip_rule", "error"])
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
            if is_sound_shard(path, schema) and not (is_thorough and not is_readable_shard(path)):
                sound.append(path)
            else:
                self.set_aside(path)
        return sound

    def set_aside(self, path: Path) -> None:
        """Move a file that is not what it should be to quarantine; it is never read again.

        Raises LakeWriteError when the folder cannot be written.
        """
        logger.warning("%s is no sound shard: set aside in %s", path, self.quarantine_dir)
        with write_errors(self.quarantine_dir):
            self.quarantine_dir.mkdir(parents=True, exist_ok=True)
            path.rename(self.quarantine_dir / f"{uuid.uuid4().hex[:8]}-{path.name}")

    def write_manifest(self, manifest: Manifest) -> None:
        """Store a manifest, atomically; from then on it names the lake's current content."""
        write_atomically(self.runs_dir / f"{manifest.run_id}.json", manifest_bytes(manifest))

    def manifests(self) -> list[Manifest]:
        """Return all readable manifests, oldest first.

        Raises LakeFormatError for one written by a newer repolake.
        """
        found = [read_manifest(path) for path in self.manifest_paths()]
        return sorted((one for one in found if one is not None), key=lambda manifest: manifest.sequence)

    def manifest_paths(self) -> list[Path]:
        """Return the files of all manifests, oldest first: run ids sort by time."""
        return sorted(path for path in self.runs_dir.glob("*.json") if not path.name.startswith("_"))

    def latest_manifest(self) -> Manifest | None:
        """Return the manifest that names the current content, or None for an empty lake.

        Raises LakeFormatError for one written by a newer repolake.
        """
        for path in reversed(self.manifest_paths()):
            manifest = read_manifest(path)
            if manifest is not None:
                return manifest
        return None

    @contextmanager
    def lock(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the data folder for one writer; a dead process holds nothing (flock).

        Raises LakeBusyError naming holder and start, LakeWriteError when the folder cannot be written.
        """
        path = self.data_dir / "lock"
        with write_errors(self.data_dir):
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
            with write_errors(path):
                file.truncate(0)
                file.write(f"process {os.getpid()}\n{datetime.now(UTC).isoformat(timespec='seconds')}\n")
                file.flush()
            yield


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
