"""What all requests of one server share: the open index, the turns, and the status of the lake."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from repolake.cores import usable_core_count
from repolake.errors import IndexMissingError
from repolake.lake import Lake
from repolake.serve_index import PublishedIndex
from repolake.serve_limits import Turns
from repolake.serve_metrics import IndexFigures
from repolake.settings import Settings
from repolake.status import Status, read_status

STATUS_SECONDS = 15.0  # a status is read again after so long, or when a run wrote its manifest
SHOWN_RUNS = 60
SQL_TURNS = 1  # a stranger's statement never takes the last turn of the searches


class ServerState:
    """The parts of one server; `close` ends them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.index = PublishedIndex(settings)
        wait = settings.serve_timeout_seconds
        self.turns = Turns(settings.serve_concurrency or usable_core_count(), settings.serve_queue, wait)
        self.sql_turns = Turns(SQL_TURNS, settings.serve_queue, wait)
        self._status: tuple[object, float, Status] | None = None
        self._status_lock = threading.Lock()

    def close(self) -> None:
        """End the turns and close the index."""
        self.turns.close()
        self.sql_turns.close()
        self.index.close()

    def status(self) -> Status:
        """Return the state of the lake, at most STATUS_SECONDS old.

        Raises IndexMissingError before the first run, LakeFormatError for a newer lake.
        """
        with self._status_lock:
            state = self._lake_state()
            if self._status is not None:
                known, read_at, status = self._status
                if known == state and time.monotonic() - read_at < STATUS_SECONDS:
                    return status
            status = read_status(self.settings.data_dir, run_count=SHOWN_RUNS)
            self._status = (state, time.monotonic(), status)
            return status

    def figures(self) -> IndexFigures:
        """Return what the metrics say of the index."""
        try:
            repositories = self.status().repositories
        except IndexMissingError:
            repositories = ()
        return IndexFigures(
            now=datetime.now(UTC),
            indexed_at={entry.repository: entry.indexed_at for entry in repositories},
            chunk_counts={entry.repository: sum(ref.chunks for ref in entry.refs) for entry in repositories},
            switch_count=self.index.switch_count,
            failure_count=self.index.failure_count,
            waiting_count=self.turns.waiting_count + self.sql_turns.waiting_count,
        )

    def _lake_state(self) -> tuple[Path | None, tuple[tuple[str, int], ...]]:
        """Return what changes when a run begins, ends or publishes."""
        folder = Lake(self.settings.data_dir).runs_dir
        manifests = folder.glob("*.json") if folder.is_dir() else ()
        return self.index.path, tuple(sorted((path.name, path.stat().st_mtime_ns) for path in manifests))
