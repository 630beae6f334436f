"""Where the bytes of a snapshot are read from: a repository's object store, or a folder on disk."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from repolake.folder import DiskReader
from repolake.git_repository import open_blobs
from repolake.records import Source, SourceMode


class FileSource(Protocol):
    """Reads the files of one snapshot; a context manager that is used by one thread."""

    def __enter__(self) -> Self:
        """Open."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""

    def read(self, path: str, blob: str) -> bytes:
        """Return the content of a file.

        Raises SourceError (GitError, FileUnreadableError) when it cannot be read, or, on disk, when it is
        no longer that blob.
        """


def open_source(source: Source) -> FileSource:
    """Return a reader of a snapshot's files.

    Raises SourceError when the repository or folder is gone.
    """
    if source.mode is SourceMode.COMMIT:
        return open_blobs(source.location)
    return DiskReader(Path(source.location))
