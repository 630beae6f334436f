"""What a lake still needs, and what of its files nothing needs: the two halves of gc."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from repolake import database, database_files
from repolake.compaction import key_of
from repolake.cores import usable_core_count
from repolake.damage import shard_folders
from repolake.lake import Lake
from repolake.manifest import Manifest
from repolake.records import Header
from repolake.shards import read_shard

SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Needs:
    """What the lake must keep: for its newest manifest, its side indexes, and for a while a dead run.

    `blobs` are the keys of chunks as `key_of` gives them; `folders` holds shards of chunks and vectors.
    """

    snapshots: frozenset[Path]
    folders: dict[Path, pa.Schema]
    blobs: pa.Array


def needs(lake: Lake, holders: Sequence[Manifest], grace_hours: float) -> Needs:
    """Return what is needed: by manifests, and what a dead run left within the grace period.

    Raises LakeReadError when a snapshot shard is damaged.
    """
    snapshots = {lake.snapshot_path(s.snapshot_id) for manifest in holders for s in manifest.snapshots}
    once = {s.snapshot_id for manifest in lake.manifests() for s in manifest.snapshots}
    for path in lake.snapshots_dir.glob("[!_.]*.parquet"):
        if path.stem not in once and is_young(path, grace_hours):
            snapshots.add(path)  # scanned by a run that died before its manifest
    snapshots = {path for path in snapshots if path.is_file()}
    folders = {folder: schema for manifest in holders for folder, schema in shard_folders(lake, manifest)}
    keys = [pa.array([], pa.string())]
    for path in sorted(snapshots):
        rows = read_shard(path, columns=["blob", "language", "skip_reason", "error"])
        indexed = pc.and_(pc.is_null(rows["skip_reason"]), pc.is_null(rows["error"]))
        keys.extend(key_of(rows.filter(indexed), ("blob", "language")).chunks)
    return Needs(frozenset(snapshots), folders, pc.unique(pa.chunked_array(keys)))


def needed_texts(
    lake: Lake, snapshots: Sequence[Path], chunk_shards: Sequence[Path], header: Header
) -> pa.Array:
    """Return the hash of each text that these snapshots need a vector of, under this header.

    Raises DatabaseError when a shard cannot be read.
    """
    if not snapshots or not chunk_shards:
        return pa.array([], pa.string())
    with database.query_lake(
        lake.data_dir / "scratch", threads=usable_core_count(), header=header
    ) as session:
        session.rows(
            "queries/create_needed_texts",
            snapshot_shards=[str(path) for path in snapshots],
            chunk_shards=[str(path) for path in chunk_shards],
        )
        batches = list(session.stream("queries/needed_hashes", 100_000))
    arrays = [batch["text_hash"] for batch in batches]
    return pa.chunked_array(arrays, pa.string()).combine_chunks()


def is_young(path: Path, grace_hours: float) -> bool:
    """Whether a file or the newest file of a folder changed within so many hours, or in the future."""
    times = [path.stat().st_mtime]
    if path.is_dir():
        times.extend(entry.stat().st_mtime for entry in path.iterdir())
    return max(times) > time.time() - grace_hours * SECONDS_PER_HOUR


def left_over_folders(lake: Lake, needed: Needs, grace_hours: float) -> Iterator[Path]:
    """Yield the folders of chunks and vectors of a chunking or model that nothing rests on any more."""
    for kind in ("chunks", "embeddings"):
        root = lake.root / kind
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if folder not in needed.folders and not is_young(folder, grace_hours):
                yield folder


def temporary_files(lake: Lake) -> Iterator[Path]:
    """Yield what dead runs left half-written; while the lock is held no run is alive."""
    for folder in (lake.snapshots_dir, lake.runs_dir, lake.purged_dir):
        yield from folder.glob("_*")
    for kind in ("chunks", "embeddings"):
        yield from (lake.root / kind).glob("*/_*")
    yield from lake.data_dir.glob(f"_*-{database_files.PUBLISHED_NAME}")
    yield from lake.data_dir.glob("scratch")
    yield from lake.data_dir.glob(f"{database_files.DRAFT_PREFIX}index-*.duckdb*")


def old_databases(lake: Lake, grace_hours: float) -> Iterator[Path]:
    """Yield the database files that were never published, and those replaced longer ago than the grace."""
    published = database_files.published_path(lake.data_dir)
    finished = {manifest.database for manifest in lake.manifests()}
    for path in sorted(lake.data_dir.glob("index-*.duckdb")):
        if path != published and not (path.name in finished and is_young(path, grace_hours)):
            yield path


def old_manifests(lake: Lake, kept: int) -> list[Path]:
    """Return the manifests of all but the newest runs."""
    return lake.manifest_paths()[:-kept]


def delete(path: Path) -> int:
    """Remove a file or folder, and return how many bytes it had; 0 if it is gone already."""
    size = size_of(path)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return size


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files of a folder."""
    if path.is_symlink() or not path.exists():
        return 0
    if path.is_dir():
        return sum(size_of(entry) for entry in path.iterdir())
    return path.stat().st_size
