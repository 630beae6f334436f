"""The command `serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from repolake.commands import DataDir, app, make_settings
from repolake.errors import UsageError

PACKAGES = frozenset({"fastapi", "h11", "prometheus_client", "starlette", "uvicorn"})


@app.command()
def serve(
    *,
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on. [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port; 0: any free one. [default: 8321]")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve the index over HTTP: a JSON API, a search page and a status page."""
    settings = make_settings(data_dir, serve_host=host, serve_port=port)
    try:
        from repolake import serve as server
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise UsageError(
            f"`repolake serve` needs the package {error.name}",
            'install it with `pip install "repolake[serve]"`',
        ) from error
    server.serve(
        settings,
        settings.serve_host,
        settings.serve_port,
        on_start=lambda address: typer.echo(
            f"serving {settings.data_dir} at {address} (Ctrl-C ends it)", err=True
        ),
    )
