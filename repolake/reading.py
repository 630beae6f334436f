"""Reads the contents of files one by one or many at once, errors as values: what every source does alike."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from repolake.errors import SourceError


class FileSource(ABC):
    """Reads the files of one snapshot; a context manager that is used by one thread."""

    def __enter__(self) -> Self:
        """Return the open source."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:  # noqa: B027  # a folder holds nothing open
        """End what is open; by default there is nothing."""

    def read(self, path: str, blob: str | None) -> bytes:
        """Return the content of a file; on disk a null blob takes it as it is now.

        Raises SourceError (GitError, FileUnreadableError) when it cannot be read, or, on disk, when it is
        no longer that blob.
        """
        (content,) = self.read_many([(path, blob)])
        if isinstance(content, SourceError):
            raise content
        return content

    @abstractmethod
    def read_many(self, files: Sequence[tuple[str, str | None]]) -> Iterator[bytes | SourceError]:
        """Yield the content of each (path, blob) in order, or the error that reading it gave.

        Faster than one after another: a repository is asked ahead. One content is held at a time.
        """


def blob_id(content: bytes, *, is_sha256: bool = False) -> str:
    """Return the git object id of a content."""
    header = b"blob %d\0" % len(content)
    if is_sha256:
        return hashlib.sha256(header + content).hexdigest()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
