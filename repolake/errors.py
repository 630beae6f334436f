"""Every exception that repolake raises on purpose.

    RepolakeError
    ├── UsageError                   what was asked for cannot be done: exit status 2
    │   ├── SettingsError            a setting is misspelt or out of range
    │   ├── RepositoryNotFoundError  a path or URL holds no readable repository or folder
    │   ├── RepositoryNameError      two different repositories claim one name
    │   ├── NothingToIndexError      a first index without any indexable file
    │   ├── UnknownNameError         a repository, ref, chunk, run or file that the index does not hold
    │   └── QueryError               a query or filter without a meaning
    ├── IndexMissingError            there is no published index to read
    ├── LakeBusyError                another run holds the data folder (transient)
    ├── LakeFormatError              lake or index were written by a newer repolake
    ├── LakeWriteError               the data folder cannot be written
    ├── LakeReadError                shards of the lake are damaged or missing
    ├── ShrinkError                  a folder lost most of its files; its snapshot was not replaced
    ├── SourceError                  a repository could not be read
    │   ├── GitError                 git refused
    │   ├── GitTimeoutError          a remote did not answer in time (transient)
    │   └── FileUnreadableError      one file could not be read, or changed while it was
    ├── ModelError                   a model cannot be used
    │   ├── ModelNotFoundError       no such model, neither here nor on the hub
    │   ├── RerankerError            a cross-encoder cannot be used
    │   └── ModelMismatchError       the index was built with another model
    ├── SelectionError               the endpoint that picks files gave no usable answer
    ├── PublishError                 a freshly built database failed its checks
    ├── ServerBusyError              too many requests wait for their turn (transient)
    └── DatabaseError                the published database failed while answering
        └── QueryTimeoutError        a query ran longer than allowed

Each is built from fields, makes its own message (what failed, on what, what to do, in which state the
data is), can be pickled, and says by `is_transient` whether the same call may succeed later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, ClassVar

_POINTER = re.compile(r"\n\nLINE \d+:.*?\^", re.DOTALL)  # DuckDB's picture of the place, not for one line


class RepolakeError(Exception):
    """Root of the tree: catch it to catch everything that repolake raises on purpose."""

    is_transient: ClassVar[bool] = False

    def __str__(self) -> str:
        raise AssertionError(f"{type(self).__name__} writes no message")

    def __reduce__(self) -> tuple[Any, ...]:
        # Every subclass is a dataclass, which mypy cannot know here.
        values = tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return type(self), values


@dataclass(eq=False)
class UsageError(RepolakeError):
    """What was asked for cannot be done; nothing was changed."""

    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.problem}; {self.remedy}" if self.remedy else self.problem


@dataclass(eq=False)
class SettingsError(UsageError):
    """A setting is misspelt or out of range."""


@dataclass(eq=False)
class RepositoryNotFoundError(UsageError):
    """A path or URL holds no readable repository or folder."""


@dataclass(eq=False)
class RepositoryNameError(UsageError):
    """Two different repositories claim one name."""


@dataclass(eq=False)
class NothingToIndexError(UsageError):
    """A first index without any indexable file; the rules that took the files are named."""


@dataclass(eq=False)
class UnknownNameError(UsageError):
    """A repository, ref, chunk, run or file that the index does not hold."""


@dataclass(eq=False)
class QueryError(UsageError):
    """A query or filter without a meaning, such as a blank query."""


@dataclass(eq=False)
class IndexMissingError(RepolakeError):
    """There is no published index to read."""

    data_dir: str

    def __str__(self) -> str:
        return f"no index in {self.data_dir}; run `repolake index PATH --data-dir {self.data_dir}` first"


@dataclass(eq=False)
class LakeBusyError(RepolakeError):
    """Another run holds the data folder."""

    data_dir: str
    holder: str
    since: str

    is_transient: ClassVar[bool] = True

    def __str__(self) -> str:
        return (
            f"another run holds {self.data_dir} ({self.holder}, started {self.since}); "
            "wait for it or use --wait SECONDS; the published index is untouched"
        )


@dataclass(eq=False)
class LakeFormatError(RepolakeError):
    """A file of the lake or the index has a format that this version cannot read."""

    path: str
    found: int
    supported: int

    def __str__(self) -> str:
        if self.found < self.supported:
            return (
                f"{self.path} has format {self.found}, this repolake reads {self.supported}; "
                "`repolake rebuild` makes it anew from the lake"
            )
        return (
            f"{self.path} has format {self.found}, this repolake reads up to {self.supported}; "
            "upgrade repolake, or use another --data-dir"
        )


@dataclass(eq=False)
class LakeWriteError(RepolakeError):
    """The data folder cannot be written: permissions, a read-only disk, no space left."""

    path: str
    reason: str

    def __str__(self) -> str:
        return (
            f"cannot write {self.path} ({self.reason}); make room or give --data-dir a writable "
            "folder and run again; the published index is untouched"
        )


@dataclass(eq=False)
class LakeReadError(RepolakeError):
    """Shards of the lake are damaged or gone; a run makes them again where their repositories can be read."""

    paths: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return (
            f"cannot read {', '.join(self.paths)} ({self.reason}); run `repolake index` again: it sets "
            "damaged shards aside and makes them again; the published index is untouched"
        )


@dataclass(eq=False)
class ShrinkError(RepolakeError):
    """A plain folder or work tree lost more than half of its files since its last snapshot."""

    repository: str
    before: int
    now: int

    def __str__(self) -> str:
        return (
            f"{self.repository} had {self.before} files and now has {self.now}; its last snapshot "
            "stays: check the folder (an unmounted disk?), or accept the loss with --allow-shrink"
        )


@dataclass(eq=False)
class SourceError(RepolakeError):
    """A repository or folder could not be read; a snapshot that the index has of it stays."""

    location: str
    reason: str

    def __str__(self) -> str:
        return f"cannot read {self.location}: {self.reason}; run again when it can be read"


@dataclass(eq=False)
class GitError(SourceError):
    """git refused an operation on a repository."""


@dataclass(eq=False)
class GitTimeoutError(SourceError):
    """A remote did not answer in time."""

    is_transient: ClassVar[bool] = True


@dataclass(eq=False)
class FileUnreadableError(SourceError):
    """One file on disk could not be read, or changed between two stages."""

    path: str

    def __str__(self) -> str:
        return f"cannot read {self.path} in {self.location}: {self.reason}; the next run tries it again"


@dataclass(eq=False)
class WorkerStartError(RepolakeError):
    """No worker process of a stage comes up: the installation is broken, or the machine is full."""

    program: str
    reason: str

    def __str__(self) -> str:
        return (
            f"no worker process starts ({self.program}: {self.reason}); check the installation and the "
            "memory that is left; the published index is untouched"
        )


@dataclass(eq=False)
class ModelError(RepolakeError):
    """A model cannot be used."""

    model: str
    reason: str

    def __str__(self) -> str:
        return (
            f"cannot use the model {self.model!r}: {self.reason}; name another one with --model or "
            "REPOLAKE_MODEL; the published index is untouched"
        )


@dataclass(eq=False)
class ModelNotFoundError(ModelError):
    """No such model, neither on this machine nor on the hub."""


@dataclass(eq=False)
class RerankerError(ModelError):
    """A cross-encoder cannot be used."""

    def __str__(self) -> str:
        return (
            f"cannot use the reranker {self.model!r}: {self.reason}; name a cross-encoder of "
            "sentence-transformers, or search without one"
        )


@dataclass(eq=False)
class SelectionError(RepolakeError):
    """The endpoint that picks files gave no answer that can be used."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"no files were picked by {self.url}: {self.reason}; check the endpoint, or search without it"


@dataclass(eq=False)
class ModelMismatchError(RepolakeError):
    """Vectors of one model meet an index that was built with another."""

    asked: str
    indexed: str

    def __str__(self) -> str:
        return (
            f"the index holds vectors of {self.indexed}, not of {self.asked}; search with the "
            f"indexed model, or run `repolake index --model {self.asked.split('@')[0]}` to re-embed"
        )


@dataclass(eq=False)
class PublishError(RepolakeError):
    """A freshly built database failed its checks, or did not fit; yesterday's stays published."""

    check: str
    detail: str

    def __str__(self) -> str:
        return (
            f"the new index was not published: {self.check}: {self.detail}; the previous index still answers"
        )


@dataclass(eq=False)
class ServerBusyError(RepolakeError):
    """Too many requests wait for their turn, or one waited too long; nothing was done."""

    reason: str

    is_transient: ClassVar[bool] = True

    def __str__(self) -> str:
        return f"the server is busy: {self.reason}; ask again in a moment"


@dataclass(eq=False)
class DatabaseError(RepolakeError):
    """The published database failed while answering: never shown as an empty result."""

    database: str
    reason: str

    def __str__(self) -> str:
        return f"{self.database} could not answer: {self.reason}"


@dataclass(eq=False)
class QueryTimeoutError(DatabaseError):
    """A query ran longer than the session allows."""


def sentence(error: RepolakeError) -> str:
    """Return the message of an error on one line."""
    return " ".join(_POINTER.sub("", str(error)).split())
