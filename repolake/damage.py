"""Finds what is damaged or gone in a lake, and sets aside what is damaged, so that a run makes it again.

Two looks: sizes against the manifest and the footers of what it does not name (some milliseconds, by every
run), and every page's checksum (before a database is built, and by gc).
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from repolake.lake import Lake
from repolake.manifest import Manifest, read_manifest
from repolake.shards import (
    CHUNK_SCHEMA,
    EVALUATION_SCHEMA,
    SNAPSHOT_SCHEMA,
    embedding_schema,
    is_readable_shard,
    is_sound_shard,
)


def shard_folders(lake: Lake, manifest: Manifest) -> list[tuple[Path, pa.Schema]]:
    """Return each folder of chunks and vectors that the manifest's content rests on, with its schema."""
    model = manifest.model
    return [
        (lake.chunks_dir(manifest.chunking_fingerprint), CHUNK_SCHEMA),
        (
            lake.embeddings_dir(str(model["model_id"])),
            embedding_schema(int(model["dimension"]), str(model["fingerprint"])),
        ),
    ]


def content_shards(lake: Lake, manifest: Manifest) -> dict[Path, pa.Schema]:
    """Return each shard that the manifest's content rests on, with its schema; snapshots though missing."""
    snapshots = {lake.snapshot_path(snapshot.snapshot_id): SNAPSHOT_SCHEMA for snapshot in manifest.snapshots}
    return snapshots | {
        path: schema
        for folder, schema in shard_folders(lake, manifest)
        for path in sorted(folder.glob("[!_.]*.parquet"))
    }


def shard_sizes(lake: Lake, manifest: Manifest) -> dict[str, int]:
    """Return the bytes of each shard that the manifest's content rests on, by path below the lake."""
    shards = content_shards(lake, manifest)
    return {_name(lake, path): path.stat().st_size for path in shards if path.is_file()}


def find_lost_shards(lake: Lake, manifest: Manifest) -> tuple[str, ...]:
    """Return the shards that the manifest names and that are gone or have another size, by path."""
    return tuple(name for name, size in manifest.shards.items() if not _has_size(lake.root / name, size))


def set_aside_damaged(lake: Lake, manifest: Manifest, *, is_thorough: bool) -> tuple[str, ...]:
    """Move what is no sound shard of the manifest's content to quarantine; return the paths below the lake.

    A thorough look verifies every page of every shard; else a shard of the size that the manifest names is
    trusted, and of others the footer is read. Manifests that cannot be read are set aside, too, in a quick
    look only those newer than the current one.

    Raises LakeWriteError when the folder cannot be written.
    """
    folders = [
        (lake.snapshots_dir, SNAPSHOT_SCHEMA),
        (lake.evaluations_dir, EVALUATION_SCHEMA),
        *shard_folders(lake, manifest),
    ]
    damaged = []
    for folder, schema in folders:
        for path in sorted(folder.glob("[!_.]*.parquet")):
            size = manifest.shards.get(_name(lake, path))
            is_trusted = not is_thorough and size is not None and _has_size(path, size)
            if is_trusted or (
                is_sound_shard(path, schema) and not (is_thorough and not is_readable_shard(path))
            ):
                continue
            damaged.append(path)
    for path in reversed(lake.manifest_paths()):
        if read_manifest(path) is None:
            damaged.append(path)
        elif not is_thorough:
            break  # only the newest manifest counts, and reading hundreds takes a while
    for path in damaged:
        lake.set_aside(path)
    return tuple(_name(lake, path) for path in damaged)


def _name(lake: Lake, path: Path) -> str:
    return str(path.relative_to(lake.root))


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
