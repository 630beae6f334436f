"""Publish a manifest's content; publish it again from the lake alone; go back to the database before."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from repolake import __version__, database
from repolake.content import Content
from repolake.damage import shard_sizes
from repolake.errors import IndexMissingError, LakeWriteError, RepolakeError
from repolake.executor import Call, LocalExecutor
from repolake.lake import Lake
from repolake.load import load
from repolake.manifest import Manifest, new_run_id
from repolake.progress import Progress, SilentProgress
from repolake.records import LoadReport
from repolake.settings import Settings


def with_content(manifest: Manifest, content: Content) -> Manifest:
    """Return the manifest with this content."""
    return replace(
        manifest,
        repositories=content.repositories,
        specs=content.specs,
        snapshots=content.snapshots,
        failures=content.failures,
    )


def begun(manifest: Manifest, previous: Manifest | None) -> Manifest:
    """Return the manifest of a run that began: with the content of the run before, until its own is whole."""
    if previous is None:
        return manifest
    return replace(
        previous,
        run_id=manifest.run_id,
        sequence=manifest.sequence,
        started_at=manifest.started_at,
        finished_at=None,
        state="running",
        stages=(),
    )


@contextlib.contextmanager
def failure_recorded(lake: Lake, run_id: str) -> Iterator[None]:
    """Say in the manifest of a run that ends with an error that it failed; its content stays."""
    try:
        yield
    except RepolakeError:
        latest = lake.latest_manifest()
        if latest is not None and latest.run_id == run_id and latest.state == "running":
            with contextlib.suppress(LakeWriteError):  # a full disk: the first error says so
                lake.write_manifest(replace(latest, state="failed", finished_at=datetime.now(UTC)))
        raise


def publish(manifest: Manifest, lake: Lake, load_call: Call[LoadReport]) -> LoadReport:
    """Make the manifest's content current, then publish its database; say so if that failed.

    Raises what the load raises; the published database then stays.
    """
    lake.write_manifest(manifest)
    with failure_recorded(lake, manifest.run_id):
        return load_call.result()


def finished(manifest: Manifest, lake: Lake, published: str, *, has_failed: bool = False) -> Manifest:
    """Return the manifest of a run that ended, with the shards that its content rests on."""
    return replace(
        manifest,
        state="partial" if has_failed or manifest.failures else "complete",
        finished_at=datetime.now(UTC),
        database=published,
        shards=shard_sizes(lake, manifest),
    )


def publish_content(
    previous: Manifest, content: Content, *, lake: Lake, settings: Settings, progress: Progress
) -> LoadReport:
    """Publish content that the lake holds already, as a run of its own after `previous`.

    Raises LakeWriteError, PublishError, DatabaseError; the published database then stays as it was.
    """
    now = datetime.now(UTC)
    manifest = replace(
        with_content(previous, content),
        run_id=new_run_id(now, previous.run_id),
        sequence=previous.sequence + 1,
        started_at=now,
        finished_at=None,
        state="running",
        version=__version__,
        config={**previous.config, "schema_version": database.SCHEMA_VERSION},
        stages=(),
        database=None,
    )
    call = LocalExecutor().submit(load, manifest, lake=lake, settings=settings, progress=progress)
    loaded = publish(manifest, lake, call)
    lake.write_manifest(finished(manifest, lake, loaded.database))
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
        content = Content.of(previous)
        return publish_content(
            previous, content, lake=lake, settings=settings, progress=progress or SilentProgress()
        )


def rollback(*, settings: Settings, wait_seconds: float = 0.0) -> Path:
    """Make readers open the database that was published before; return its file. The lake stays as it is.

    Raises IndexMissingError before the first publish, UnknownNameError when no older file is left,
    LakeBusyError, DatabaseError or LakeFormatError when that file cannot be read.
    """
    with Lake(settings.data_dir).lock(wait_seconds):
        return database.rollback(settings.data_dir)
