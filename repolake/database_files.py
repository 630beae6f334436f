"""The database files of a data folder: drafts, the published one and those before it."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from repolake.errors import LakeWriteError

PUBLISHED_NAME = "index.duckdb"
DRAFT_PREFIX = "_"  # of a database that is not whole or not checked yet


def draft_path(data_dir: Path, run_id: str) -> Path:
    """Return where a run builds its database; `publish` gives it its final name."""
    return data_dir / f"{DRAFT_PREFIX}index-{run_id}.duckdb"


def discard(path: Path) -> None:
    """Remove a database file and what DuckDB keeps beside it."""
    for left_over in (path, path.with_name(f"{path.name}.wal")):
        left_over.unlink(missing_ok=True)
    shutil.rmtree(path.with_name(f"{path.name}.tmp"), ignore_errors=True)


def discard_drafts(data_dir: Path) -> None:
    """Remove what killed runs left half built. Only the holder of the lake's lock may call it."""
    for left_over in data_dir.glob(f"{DRAFT_PREFIX}index-*.duckdb*"):
        if left_over.is_dir():
            shutil.rmtree(left_over, ignore_errors=True)
        else:
            left_over.unlink(missing_ok=True)


def publish(draft: Path) -> Path:
    """Give a whole and checked database its final name, make it the one that readers open; return it.

    Raises LakeWriteError when the folder cannot be written.
    """
    path = draft.with_name(draft.name.removeprefix(DRAFT_PREFIX))
    try:
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.rename(path)
    except OSError as error:
        raise LakeWriteError(str(path), error.strerror or str(error)) from error
    switch(path)
    return path


def switch(path: Path) -> None:
    """Make `path` the database that readers open, by switching one symbolic link atomically.

    Raises LakeWriteError when the folder cannot be written.
    """
    link = path.with_name(PUBLISHED_NAME)
    temporary = path.with_name(f"_{uuid.uuid4().hex[:8]}-{PUBLISHED_NAME}")
    try:
        temporary.symlink_to(path.name)
        temporary.replace(link)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise LakeWriteError(str(link), error.strerror or str(error)) from error


def discard_replaced(data_dir: Path, kept: int) -> None:
    """Remove all but the newest `kept` databases beside the published one; who has one open reads on."""
    published = published_path(data_dir)
    replaced = sorted(path for path in data_dir.glob("index-*.duckdb") if path != published)
    for path in replaced[:-kept]:
        discard(path)


def published_path(data_dir: Path) -> Path | None:
    """Return the file that the published link points to, or None before the first publish."""
    link = data_dir / PUBLISHED_NAME
    if not link.is_symlink():
        return None
    path = data_dir / link.readlink()
    return path if path.is_file() else None
