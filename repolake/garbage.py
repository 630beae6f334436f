"""Garbage collection: what nothing needs leaves the lake, small shards become few, contents are purged."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from repolake.compaction import Compacted, compact
from repolake.content import Content
from repolake.damage import find_lost_shards, set_aside_damaged, shard_sizes
from repolake.errors import GitError, IndexMissingError, UnknownNameError
from repolake.git_mirror import mirror_path, pack_mirror
from repolake.lake import SIDE_FOLDER, Lake
from repolake.locations import allowed_address, is_url
from repolake.manifest import Manifest
from repolake.progress import Progress, SilentProgress
from repolake.publishing import publish_content
from repolake.records import GarbageReport, RepositorySpec
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, read_shard, write_atomically, write_shard
from repolake.snapshot_rows import without_blobs
from repolake.sweeping import (
    Needs,
    delete,
    is_young,
    left_over_folders,
    needed_texts,
    needs,
    old_databases,
    old_manifests,
    size_of,
    temporary_files,
)

PENDING = ".pending"  # ending of the mark of a purge that has not come to its end


def collect_garbage(
    *,
    settings: Settings,
    purge_blobs: Sequence[str] = (),
    wait_seconds: float = 0.0,
    progress: Progress | None = None,
) -> GarbageReport:
    """Remove what no kept snapshot needs, make few shards of many small ones, forget old runs and databases.

    Blobs to purge leave every shard and database of the data folder, a database without them is published,
    and scans leave them out from now on. A purge that was interrupted goes on at the next call. Readers are
    not disturbed: open files stay readable. Runs of this folder and of its side indexes are kept out.

    Raises IndexMissingError before the first index, UnknownNameError for a blob that the lake does not hold,
    LakeBusyError while a run holds the data folder, LakeWriteError, LakeReadError, DatabaseError,
    PublishError.
    """
    lake = Lake(settings.data_dir)
    with ExitStack() as locks:
        locks.enter_context(lake.lock(wait_seconds))
        side_lakes = lake.side_lakes()
        for side in side_lakes:
            locks.enter_context(side.lock(wait_seconds))
        latest = lake.latest_manifest()
        if latest is None:
            raise IndexMissingError(str(settings.data_dir))
        if lake.snapshots_dir.is_symlink():
            raise UnknownNameError(
                f"{settings.data_dir} is a side index and rests on another lake",
                "run gc on the data folder that it lies in",
            )
        return _Collection(lake, latest, side_lakes, settings, progress or SilentProgress()).run(purge_blobs)


@dataclass
class _Collection:
    """One gc: what it works on, and what it did so far."""

    lake: Lake
    latest: Manifest
    side_lakes: list[Lake]
    settings: Settings
    progress: Progress
    removed: Counter[str] = field(default_factory=Counter)
    shards_written: int = 0

    def run(self, purge_blobs: Sequence[str]) -> GarbageReport:
        started = time.monotonic()
        before = self._lake_bytes() + self._database_bytes()
        self._mark(purge_blobs)
        purged = frozenset(
            path.name.removesuffix(PENDING) for path in self.lake.purged_dir.glob(f"*{PENDING}")
        )
        published: str | None = None
        damaged = set_aside_damaged(self.lake, self.latest, is_thorough=True)
        is_whole = not damaged and not find_lost_shards(self.lake, self.latest)
        if purged:
            self._purge(purged)
        # Without all snapshots nobody knows what is needed: the next run makes them again, then gc sweeps.
        if purged or is_whole:
            self._sweep_lake(0.0 if purged else self.settings.gc_grace_hours, is_thorough=bool(purged))
        if purged:
            loaded = publish_content(
                self.latest,
                Content.of(self.latest),
                lake=self.lake,
                settings=self.settings,
                progress=self.progress,
            )
            published = loaded.database
        self._sweep_rest(0.0 if purged else self.settings.gc_grace_hours)
        for blob in purged:
            (self.lake.purged_dir / f"{blob}{PENDING}").rename(self.lake.purged_dir / blob)
        lake_bytes, database_bytes = self._lake_bytes(), self._database_bytes()
        return GarbageReport(
            bytes_freed=before - lake_bytes - database_bytes,
            lake_bytes=lake_bytes,
            database_bytes=database_bytes,
            removed=dict(self.removed),
            shards_written=self.shards_written,
            seconds=time.monotonic() - started,
            purged=tuple(sorted(purged)),
            database=published,
            damaged=damaged,
        )

    # purge

    def _mark(self, blobs: Sequence[str]) -> None:
        """Note what is to go, before anything goes: from here on no scan takes it in."""
        known = self.lake.purged_blobs()
        unknown = [blob for blob in blobs if blob not in known and not self._holds(blob)]
        if unknown:
            raise UnknownNameError(
                f"the lake holds no blob {unknown[0]!r}",
                "the table `files` has the blob of each path; nothing was changed",
            )
        for blob in blobs:
            write_atomically(self.lake.purged_dir / f"{blob}{PENDING}", b"")
            delete(self.lake.purged_dir / blob)

    def _holds(self, blob: str) -> bool:
        shards = [(path, "blob") for path in self.lake.snapshots_dir.glob("[!_.]*.parquet")]
        shards += [(path, "blob") for path in (self.lake.root / "chunks").glob("*/[!_.]*.parquet")]
        return any(
            read_shard(path, columns=[column], filters=[(column, "=", blob)]).num_rows
            for path, column in shards
        )

    def _purge(self, blobs: frozenset[str]) -> None:
        """Take the blobs out of every snapshot; the sweep then takes out what they alone needed."""
        for path in sorted(self.lake.snapshots_dir.glob("[!_.]*.parquet")):
            rows = without_blobs(read_shard(path), blobs)
            if rows is not None:
                write_shard(path, rows)
        self._remove("others", [self.lake.data_dir / SIDE_FOLDER])
        self.side_lakes = []
        self._remove("others", self.lake.quarantine_dir.glob("*"))

    # the lake

    def _holders(self) -> list[tuple[Lake, Manifest]]:
        found = [(side, side.latest_manifest()) for side in self.side_lakes]
        sides = [(side, manifest) for side, manifest in found if manifest is not None]
        return [(self.lake, self.latest), *sides]

    def _sweep_lake(self, grace_hours: float, *, is_thorough: bool) -> None:
        holders = self._holders()
        needed = needs(self.lake, [manifest for _, manifest in holders], grace_hours)
        self._remove("others", temporary_files(self.lake))
        self._remove("shards", left_over_folders(self.lake, needed, grace_hours))
        compacted = self._compact(needed, is_thorough)
        for holder, manifest in holders:  # first what is there from now on, then remove what it replaces
            gone = {str(path.relative_to(self.lake.root)) for path in compacted.obsolete}
            shards = {name: size for name, size in shard_sizes(holder, manifest).items() if name not in gone}
            current = replace(manifest, shards=shards)
            holder.write_manifest(current)
            if holder is self.lake:
                self.latest = current
        self._remove("shards", compacted.obsolete)
        self._remove(
            "snapshots",
            (p for p in self.lake.snapshots_dir.glob("[!_.]*.parquet") if p not in needed.snapshots),
        )

    def _compact(self, needed: Needs, is_thorough: bool) -> Compacted:
        """Compact the folders of chunks and vectors; the vectors' needs follow from the chunks'."""
        shards = {folder: self.lake.shards(folder, schema) for folder, schema in needed.folders.items()}
        chunk_shards = [
            path
            for folder, schema in needed.folders.items()
            if schema is CHUNK_SCHEMA
            for path in shards[folder]
        ]
        texts = pa.concat_arrays(
            [
                needed_texts(self.lake, sorted(needed.snapshots), chunk_shards, header)
                for header in {manifest.header for _, manifest in self._holders()}
            ]
        )
        obsolete: list[Path] = []
        for folder, schema in needed.folders.items():
            is_chunks = schema is CHUNK_SCHEMA
            done = compact(
                shards[folder],
                schema,
                ("blob", "language") if is_chunks else ("text_hash",),
                needed.blobs if is_chunks else texts,
                is_thorough=is_thorough,
            )
            obsolete.extend(done.obsolete)
            self.shards_written += done.shards_written
        return Compacted(tuple(obsolete), self.shards_written)

    # the rest of the data folder

    def _sweep_rest(self, grace_hours: float) -> None:
        self._remove("databases", list(old_databases(self.lake, grace_hours)))
        self._remove("runs", old_manifests(self.lake, self.settings.runs_kept))
        self._remove(
            "others",
            [path for path in self.lake.quarantine_dir.glob("*") if not is_young(path, grace_hours)],
        )
        mirrors = {_mirror(self.lake, spec) for _, holder in self._holders() for spec in holder.specs}
        for folder in self.lake.mirrors_dir.glob("*.git"):
            if folder not in mirrors:
                self._remove("mirrors", [folder])
                continue
            try:
                pack_mirror(folder)
            except GitError:
                continue  # the next run's fetch says what is wrong with it

    def _remove(self, kind: str, paths: Iterable[Path]) -> None:
        for path in paths:
            if path.exists() or path.is_symlink():
                delete(path)
                self.removed[kind] += 1

    def _lake_bytes(self) -> int:
        return size_of(self.lake.root)

    def _database_bytes(self) -> int:
        return sum(size_of(path) for path in self.lake.data_dir.glob("index-*.duckdb"))


def _mirror(lake: Lake, spec: RepositorySpec) -> Path | None:
    if not is_url(spec.location):
        return None
    return mirror_path(lake.mirrors_dir, allowed_address(spec.location))
