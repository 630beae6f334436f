"""How a stage tells a face how far it is, without knowing the face."""

from __future__ import annotations

from typing import Protocol

from repolake.records import Stage


class Progress(Protocol):
    """Receives counts while a stage runs; implementations must be cheap to call."""

    def start(self, stage: Stage, label: str, total: int | None) -> None:
        """Begin a bar for `stage`; `total` is null while unknown."""

    def advance(self, stage: Stage, count: int) -> None:
        """`count` more files, chunks or embeddings are done."""

    def finish(self, stage: Stage) -> None:
        """The stage has ended."""


class SilentProgress:
    """Says nothing: for flows, tests and pipes."""

    def start(self, stage: Stage, label: str, total: int | None) -> None:
        """Ignore."""

    def advance(self, stage: Stage, count: int) -> None:
        """Ignore."""

    def finish(self, stage: Stage) -> None:
        """Ignore."""
