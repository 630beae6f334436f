"""The command `mcp`."""

from __future__ import annotations

import signal

from repolake.commands import DataDir, app, make_settings
from repolake.errors import UsageError


@app.command()
def mcp(data_dir: DataDir = None) -> None:
    """Answer assistants over the Model Context Protocol, on standard input and output."""
    settings = make_settings(data_dir)
    try:
        from repolake.mcp_server import build_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise UsageError(
            "`repolake mcp` needs the package mcp", 'install it with `pip install "repolake[mcp]"`'
        ) from error
    # Nothing is half done here: the assistant's program may end this one at any time.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    build_server(settings).run("stdio")
