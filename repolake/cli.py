"""The entry point `repolake`: signals, and the exit status of every error."""

from __future__ import annotations

import signal
import sys
import warnings
from types import FrameType
from typing import NoReturn

from repolake.errors import RepolakeError, sentence

EXIT_NOTHING_DONE = 2


class _InterruptedError(BaseException):
    """Ctrl-C or SIGTERM. Not a KeyboardInterrupt, which typer turns into a status of its own."""


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 finished with failures, 2 nothing could be done."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    warnings.showwarning = _show_warning  # type: ignore[assignment]  # only the message is shown
    try:
        from repolake import (  # noqa: F401  # they register themselves
            evaluate_command,
            export_command,
            mcp_command,
            search_command,
            serve_command,
            upkeep_commands,
        )
        from repolake.commands import app

        app(prog_name="repolake")
    except RepolakeError as error:
        _fail(sentence(error))
    except _InterruptedError:
        # A second Ctrl-C while pools and files close must not bring a traceback.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _fail("interrupted; finished work is kept and the published index is untouched; run again to go on")
    sys.exit(0)


def _fail(message: str) -> NoReturn:
    print(f"repolake: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(EXIT_NOTHING_DONE)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _InterruptedError


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"repolake: warning: {message}", file=sys.stderr)  # noqa: T201
