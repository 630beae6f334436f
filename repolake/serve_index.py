"""The published index as a server sees it: always the newest, each closed when its last request ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from repolake import database_files
from repolake.errors import IndexMissingError, QueryTimeoutError, RepolakeError, sentence
from repolake.search import Index, open_index
from repolake.settings import Settings

WARM_UP_QUERY = "where is the connection opened"

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _OpenIndex:
    """One opened database with the number of requests that use it."""

    index: Index
    use_count: int = 0
    is_retired: bool = False


class PublishedIndex:
    """The newest published database, opened; requests take it with `lease`, one thread calls `refresh`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.model_copy(update={"query_timeout_seconds": settings.serve_timeout_seconds})
        self._lock = threading.Lock()
        self._current: _OpenIndex | None = None
        self.problem: str | None = None  # why the published database could not be opened
        self.switch_count = 0
        self.failure_count = 0

    @property
    def path(self) -> Path | None:
        """The database that answers, or None before the first publish."""
        return self._current.index.path if self._current is not None else None

    def refresh(self) -> bool:
        """Open the published database if it is another one than the open one; say whether it was switched.

        The new one answers a first query before any request meets it. If it cannot be opened, the old one
        answers on and `problem` says why.
        """
        published = database_files.published_path(self._settings.data_dir)
        if published is None or published == self.path:
            return False
        try:
            index = self._opened()
        except RepolakeError as error:
            self._note(sentence(error))
            return False
        self.problem = None
        with self._lock:
            old, self._current = self._current, _OpenIndex(index)
            self.switch_count += 1
            is_idle = old is not None and old.use_count == 0
            if old is not None:
                old.is_retired = True
        if old is not None and is_idle:
            old.index.close()
        return True

    @contextmanager
    def lease(self) -> Iterator[Index]:
        """Hold the newest index for one request.

        Raises IndexMissingError before the first publish.
        """
        with self._lock:
            held = self._current
            if held is None:
                raise IndexMissingError(str(self._settings.data_dir))
            held.use_count += 1
        try:
            yield held.index
        finally:
            with self._lock:
                held.use_count -= 1
                is_over = held.is_retired and held.use_count == 0
            if is_over:
                held.index.close()

    def close(self) -> None:
        """Close the open database; requests that still use it end first."""
        with self._lock:
            old, self._current = self._current, None
            is_idle = old is not None and old.use_count == 0
            if old is not None:
                old.is_retired = True
        if old is not None and is_idle:
            old.index.close()

    def _opened(self) -> Index:
        reranker = self._settings.serve_reranker
        index = open_index(
            self._settings.data_dir, settings=self._settings, rerankers=[reranker] if reranker else []
        )
        try:
            index.search(WARM_UP_QUERY, k=1)
        except QueryTimeoutError:
            pass  # a cold disk: the pages that were read stay warm
        except RepolakeError:
            index.close()
            raise
        return index

    def _note(self, problem: str) -> None:
        if problem != self.problem:
            logger.warning("the published index cannot be opened: %s", problem)
        self.problem = problem
        self.failure_count += 1
