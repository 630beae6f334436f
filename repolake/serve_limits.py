"""How much a server does at once: bounded turns, a bounded queue, and slow clients cut off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import h11
from starlette.requests import ClientDisconnect, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from repolake.errors import ServerBusyError

Result = TypeVar("Result")

MAX_BODY_BYTES = 64 * 1024


class BodyTooLargeError(Exception):
    """A request's body has more than MAX_BODY_BYTES."""


class Turns:
    """Runs blocking work in threads, so much at once; more waits in a bounded queue."""

    def __init__(self, concurrency: int, queue: int, wait_seconds: float) -> None:
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="repolake-turn")
        self._free = asyncio.Semaphore(concurrency)
        self._queue = queue
        self._wait_seconds = wait_seconds
        self.waiting_count = 0

    async def run(self, request: Request, work: Callable[[], Result]) -> Result:
        """Return what the work gives when its turn has come.

        Raises ServerBusyError when too many wait already or the turn does not come in time; a client
        that left meanwhile raises ClientDisconnect and costs no work.
        """
        await self._take()
        try:
            if await request.is_disconnected():
                raise ClientDisconnect
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)
        finally:
            self._free.release()

    async def _take(self) -> None:
        if self._free.locked() and self.waiting_count >= self._queue:
            raise ServerBusyError(f"{self.waiting_count} requests wait already")
        self.waiting_count += 1
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._free.acquire()
        except TimeoutError as error:
            raise ServerBusyError(f"no turn came free in {self._wait_seconds:g} seconds") from error
        finally:
            self.waiting_count -= 1

    def close(self) -> None:
        """Let running work end and take no more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


async def read_body(request: Request, client_seconds: float) -> bytes:
    """Return the body of a request, which may take `client_seconds` to arrive.

    Raises BodyTooLargeError when it exceeds MAX_BODY_BYTES, TimeoutError when it comes too slowly.
    """
    body = bytearray()
    async with asyncio.timeout(client_seconds):
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY_BYTES:
                raise BodyTooLargeError
    return bytes(body)


class ImpatientProtocol(H11Protocol):
    """HTTP/1.1 that drops a client which sends its request, or takes its response, too slowly.

    uvicorn itself waits for ever for the end of a request's headers.
    """

    def __init__(self, *, client_seconds: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._client_seconds = client_seconds
        self._arrival: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of the first request."""
        super().connection_made(transport)
        self._arrival = self.loop.call_later(self._client_seconds, self._drop)

    def data_received(self, data: bytes) -> None:
        """Take bytes; the clock runs as long as a request has begun and its headers are not whole."""
        super().data_received(data)
        is_answered = self.cycle is not None and self.cycle.response_complete
        if self.conn.their_state is h11.IDLE or is_answered:
            if self._arrival is None:
                self._arrival = self.loop.call_later(self._client_seconds, self._drop)
        else:
            self._stop_clock()

    def pause_writing(self) -> None:
        """Start the clock of a response that the client does not take."""
        super().pause_writing()
        self._taking = self._taking or self.loop.call_later(self._client_seconds, self._drop)

    def resume_writing(self) -> None:
        """Stop that clock: the client reads on."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop both clocks."""
        self._stop_clock()
        if self._taking is not None:
            self._taking.cancel()
        super().connection_lost(exc)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; cut it off if the end of a response is still not taken later."""
        super().timeout_keep_alive_handler()
        self._arrival = self._arrival or self.loop.call_later(self._client_seconds, self._drop)

    def _stop_clock(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _drop(self) -> None:
        self._arrival = None
        self.transport.abort()
