"""Publish a manifest's content; publish it again from the lake alone; go back to the database before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from repolake import __version__, database
from repolake.errors import IndexMissingError, RepolakeError
from repolake.executor import Call, LocalExecutor
from repolake.lake import Lake
from repolake.load import load
from repolake.manifest import Manifest, new_run_id
from repolake.progress import Progress, SilentProgress
from repolake.records import LoadReport
from repolake.settings import Settings


def publish(manifest: Manifest, lake: Lake, load_call: Call[LoadReport]) -> LoadReport:
    """Make the manifest's content current, then publish its database; say so if that failed."""
    lake.write_manifest(manifest)
    try:
        return load_call.result()
    except RepolakeError:
        lake.write_manifest(replace(manifest, state="failed", finished_at=datetime.now(UTC)))
        raise


def finished(manifest: Manifest, published: str, *, has_failed: bool = False) -> Manifest:
    """Return the manifest of a run that has published its database."""
    state = "partial" if has_failed or manifest.failures else "complete"
    return replace(manifest, state=state, finished_at=datetime.now(UTC), database=published)


def publish_again(content: Manifest, lake: Lake, settings: Settings, progress: Progress) -> LoadReport:
    """Publish the content of a manifest in a run of its own that scans, chunks and embeds nothing."""
    now = datetime.now(UTC)
    manifest = replace(
        content,
        run_id=new_run_id(now),
        sequence=content.sequence + 1,
        started_at=now,
        finished_at=None,
        state="running",
        version=__version__,
        config={**content.config, "schema_version": database.SCHEMA_VERSION},
        stages=(),
        database=None,
    )
    call = LocalExecutor().submit(load, manifest, lake=lake, settings=settings, progress=progress)
    loaded = publish(manifest, lake, call)
    lake.write_manifest(finished(manifest, loaded.database))
    return loaded


def rebuild(*, settings: Settings, wait_seconds: float = 0.0, progress: Progress | None = None) -> LoadReport:
    """Build and publish the database from the lake; no repository is read and no text embedded.

    Raises IndexMissingError for an empty lake, LakeBusyError, LakeWriteError, PublishError when the lake
    lacks what its manifest names; the published database then stays as it was.
    """
    lake = Lake(settings.data_dir)
    with lake.lock(wait_seconds):
        previous = lake.latest_manifest()
        if previous is None:
            raise IndexMissingError(str(settings.data_dir))
        return publish_again(previous, lake, settings, progress or SilentProgress())


def rollback(*, settings: Settings, wait_seconds: float = 0.0) -> Path:
    """Make readers open the database that was published before; return its file. The lake stays as it is.

    Raises IndexMissingError before the first publish, UnknownNameError when no older file is left,
    LakeBusyError, DatabaseError or LakeFormatError when that file cannot be read.
    """
    with Lake(settings.data_dir).lock(wait_seconds):
        return database.rollback(settings.data_dir)
