"""A limit on the time of one query, with a clock that stands still while a model loads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self


class _Clock:
    """Seconds of this process, without those in which something is being loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0
        self._since = 0.0
        self._paused_seconds = 0.0

    def now(self) -> float:
        with self._lock:
            return (self._since if self._pauses else time.monotonic()) - self._paused_seconds

    @contextmanager
    def pausing(self) -> Iterator[None]:
        with self._lock:
            if not self._pauses:
                self._since = time.monotonic()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if not self._pauses:
                    self._paused_seconds += time.monotonic() - self._since


# One a process: DuckDB calls a function of one session from the query of another, and a model is loaded once.
_CLOCK = _Clock()
pausing = _CLOCK.pausing


class TimeLimit:
    """Within `with`, calls `stop` once the seconds are over; `is_over` then stays true."""

    def __init__(self, seconds: float, stop: Callable[[], None]) -> None:
        self._seconds = seconds
        self._stop = stop
        self._ended = threading.Event()
        self.is_over = False

    def __enter__(self) -> Self:
        self._deadline = _CLOCK.now() + self._seconds
        threading.Thread(target=self._wait, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()

    def _wait(self) -> None:
        while (left := self._deadline - _CLOCK.now()) > 0:
            if self._ended.wait(max(left, 0.05)):
                return
        self.is_over = True
        self._stop()
