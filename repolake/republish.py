"""Publish again: the database of the lake's content built anew, or the one that was published before."""

from __future__ import annotations

from pathlib import Path

from repolake import database
from repolake.content import Content
from repolake.errors import IndexMissingError
from repolake.lake import Lake
from repolake.progress import Progress, SilentProgress
from repolake.publishing import publish_content
from repolake.records import LoadReport
from repolake.settings import Settings


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
        return publish_content(
            previous,
            Content.of(previous),
            lake=lake,
            settings=settings,
            progress=progress or SilentProgress(),
        )


def rollback(*, settings: Settings, wait_seconds: float = 0.0) -> Path:
    """Make readers open the database that was published before; return its file. The lake stays as it is.

    Raises IndexMissingError before the first publish, UnknownNameError when no older file is left,
    LakeBusyError, DatabaseError or LakeFormatError when that file cannot be read.
    """
    with Lake(settings.data_dir).lock(wait_seconds):
        return database.rollback(settings.data_dir)
