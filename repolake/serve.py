"""`repolake serve`: the published index over HTTP, for programs and for people."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp

from repolake import __version__, serve_pages
from repolake.errors import UsageError
from repolake.serve_answers import Health
from repolake.serve_errors import add_error_answers
from repolake.serve_limits import ImpatientProtocol
from repolake.serve_metrics import Metrics
from repolake.serve_routes import json_response, make_router
from repolake.serve_security import Gate, make_access
from repolake.serve_state import ServerState
from repolake.settings import Settings

POLL_SECONDS = 1.0  # how soon a newly published index is seen
MAX_CONNECTIONS = 1000
MAX_HEADER_BYTES = 32 * 1024
SHUTDOWN_SECONDS = 20
DESCRIPTION = """Read-only search over an index of git repositories.

Every answer is JSON; an answer that is no success is `{"error": "one sentence"}`. A newly published index is
picked up by itself. If the server asks for a token, send it as `Authorization: Bearer TOKEN`."""

logger = logging.getLogger(__name__)


def make_app(settings: Settings, host: str) -> ASGIApp:
    """Return the ASGI application of a server that listens on `host`.

    Raises SettingsError for a token that cannot be used, or a server that lacks one.
    """
    access = make_access(settings, host)
    state = ServerState(settings)
    metrics = Metrics(state.figures)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(state.index.refresh)
        poll = asyncio.create_task(_poll(state))
        yield
        poll.cancel()
        with suppress(asyncio.CancelledError):
            await poll
        state.close()

    app = FastAPI(
        title="repolake",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from elsewhere
        redoc_url=None,
    )
    add_error_answers(app)
    app.include_router(make_router(state))
    app.include_router(serve_pages.router)

    @app.get("/healthz", response_model=Health, summary="Whether the server can answer")
    async def health() -> Response:
        """Answer 200 with an index to search, 503 before the first one is published."""
        path = state.index.path
        found = {
            "status": "ok" if path is not None else "no index",
            "index": path.stem if path is not None else None,
            "problem": state.index.problem,
        }
        answer = json_response(found)
        answer.status_code = 200 if path is not None else 503
        return answer

    @app.get("/metrics", summary="Figures for Prometheus")
    async def figures() -> Response:
        """Return requests, latencies, and the age and size of the index in Prometheus's text format."""
        return Response(await asyncio.to_thread(metrics.text), media_type=CONTENT_TYPE_LATEST)

    return metrics.measure(Gate(app, access))


def serve(settings: Settings, host: str, port: int, *, on_start: Callable[[str], None] = print) -> None:
    """Serve until SIGINT or SIGTERM; `on_start` gets the address once the port is bound.

    Raises UsageError when the address cannot be bound, SettingsError for a server that lacks its token.
    """
    app = make_app(settings, host)
    with _bound(host, port) as listener:
        on_start(_address(listener))
        config = uvicorn.Config(
            app,
            http=partial(ImpatientProtocol, client_seconds=settings.serve_client_seconds),  # type: ignore[arg-type]
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        # uvicorn ends on these signals, then raises them again for whoever was there before: nobody.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        uvicorn.Server(config).run(sockets=[listener])


async def _poll(state: ServerState) -> None:
    while True:
        await asyncio.sleep(POLL_SECONDS)
        if await asyncio.to_thread(state.index.refresh):
            logger.info("now serving %s", state.index.path)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"cannot listen on {host}, port {port}: {reason}", "choose others with --host and --port"
        ) from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
