"""Where the bytes of a snapshot are read from: a repository's object store, or a folder on disk."""

from __future__ import annotations

from pathlib import Path

from repolake.errors import SourceError
from repolake.folder import DiskReader
from repolake.git_repository import open_blobs
from repolake.locations import is_folder
from repolake.reading import FileSource
from repolake.records import Source, SourceMode


def open_source(source: Source) -> FileSource:
    """Return a reader of a snapshot's files.

    Raises SourceError when the repository or folder is gone.
    """
    if source.mode is SourceMode.COMMIT:
        return open_blobs(source.location)
    folder = Path(source.location)
    if not is_folder(folder):
        raise SourceError(source.location, "the folder is gone")
    return DiskReader(folder)
