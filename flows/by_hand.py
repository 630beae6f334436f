"""Runs a flow from a shell: its exit status, and one at a time on Prefect's temporary server."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from prefect import Flow
from prefect.server.api.server import SubprocessASGIServer
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_HOME,
    PREFECT_SERVER_ANALYTICS_ENABLED,
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS,
    temporary_settings,
)

LOCK_NAME = "repolake.lock"  # holds the process id of the latest temporary server
SERVER_ARGUMENT = b"prefect.server.api.server:create_app"
STARTUP_TIMEOUT_SECONDS = 120  # Prefect's own 20 are too few on a slow disk or beside other work


def run_by_hand(flow: Flow[..., Any], *arguments: object, **named: object) -> NoReturn:
    """Run a flow and exit: 0 if it ended Completed, 1 if Partial, Failed or Crashed, 2 without a server."""
    with server_at_hand():
        state: Any = flow(*arguments, **named, return_state=True)
        raise SystemExit(0 if state.is_completed() and state.name == "Completed" else 1)


@contextmanager
def server_at_hand() -> Iterator[None]:
    """Let a flow run by hand use the Prefect server that is configured, else the temporary one, alone.

    Two temporary servers that migrate one SQLite file at the same moment break each other, so the flows of
    one PREFECT_HOME wait for one another. The server ends with this process, also at SIGTERM; one that a
    killed process left behind is ended by the next. Exits with 2 and a sentence when that folder cannot be
    written.
    """
    try:
        if PREFECT_API_URL.value():
            yield
        else:
            with _temporary_server():
                yield
    except KeyboardInterrupt:
        raise SystemExit(128 + signal.SIGINT) from None  # the run is Crashed by now, and said so


@contextmanager
def _temporary_server() -> Iterator[None]:
    signal.signal(signal.SIGTERM, _exit)
    lock = _lock(PREFECT_HOME.value())
    _end_orphan(lock)
    timeout = max(STARTUP_TIMEOUT_SECONDS, PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS.value())
    # It lives for seconds, and often without a network: nothing is reported to Prefect's makers.
    with temporary_settings({PREFECT_SERVER_ANALYTICS_ENABLED: False}):
        server = SubprocessASGIServer()  # the one that Prefect would start at the first call
        server.start(timeout)
        if server.server_process is not None:
            os.ftruncate(lock, 0)
            os.pwrite(lock, str(server.server_process.pid).encode(), 0)
        yield


def _exit(number: int, _: FrameType | None) -> None:
    """End in order: Prefect has marked the run as Crashed and hands the signal on."""
    raise SystemExit(128 + number)


def _lock(home: Path) -> int:
    """Return the file that is locked until this process has ended."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock = os.open(home / LOCK_NAME, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        sys.stderr.write(
            f"repolake: cannot write {home} ({error.strerror}); set PREFECT_HOME to another folder\n"
        )
        raise SystemExit(2) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(
            "repolake: another flow is using Prefect's temporary server; waiting for it. To have several at "
            "once, run `prefect server start` and set PREFECT_API_URL\n"
        )
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def _end_orphan(lock: int) -> None:
    """End the server of a process that was killed, as far as /proc tells that it is one."""
    number = os.pread(lock, 32, 0).decode()
    with suppress(OSError):
        if number and SERVER_ARGUMENT in Path(f"/proc/{number}/cmdline").read_bytes():
            os.kill(int(number), signal.SIGTERM)
