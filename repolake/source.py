"""Where the bytes of a snapshot are read from: a repository's object store, or a folder on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from repolake.errors import SourceError
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

    def read(self, path: str, blob: str | None) -> bytes:
        """Return the content of a file; on disk a null blob takes it as it is now.

        Raises SourceError (GitError, FileUnreadableError) when it cannot be read, or, on disk, when it is
        no longer that blob.
        """

    def read_many(self, files: Sequence[tuple[str, str | None]]) -> Iterator[bytes | SourceError]:
        """Yield the content of each (path, blob) in order, or the error that reading it gave.

        Faster than one after another: a repository is asked ahead. One content is held at a time.
        """


def open_source(source: Source) -> FileSource:
    """Return a reader of a snapshot's files.

    Raises SourceError when the repository or folder is gone.
    """
    if source.mode is SourceMode.COMMIT:
        return open_blobs(source.location)
    return DiskReader(Path(source.location))
