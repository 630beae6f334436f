"""The status code and the one sentence of every error of a request; never a traceback."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from repolake.errors import (
    IndexMissingError,
    QueryError,
    QueryTimeoutError,
    RepolakeError,
    ServerBusyError,
    UnknownNameError,
    sentence,
)
from repolake.serve_limits import BodyTooLargeError
from repolake.serve_security import BODY_TOO_LARGE, refuse

RETRY_SECONDS = {ServerBusyError: 1, IndexMissingError: 30}
CLIENT_CLOSED_REQUEST = 499  # nobody reads it, but the metrics show it


def add_error_answers(app: FastAPI) -> None:
    """Let the application answer each error with its status code and one sentence."""
    app.add_exception_handler(RepolakeError, _on_repolake_error)
    app.add_exception_handler(RequestValidationError, _on_wrong_parameters)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(BodyTooLargeError, _on_large_body)
    app.add_exception_handler(TimeoutError, _on_slow_body)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    app.add_exception_handler(Exception, _on_fault)


def status_of(error: RepolakeError) -> int:
    """Return the status code of an error: 404 unknown name, 422 wrong query, 504 too slow, else 503."""
    if isinstance(error, UnknownNameError):
        return 404
    if isinstance(error, QueryError):
        return 422
    return 504 if isinstance(error, QueryTimeoutError) else 503


async def _on_repolake_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RepolakeError)  # noqa: S101  # by registration
    status = status_of(error)
    headers = {"retry-after": str(RETRY_SECONDS.get(type(error), 5))} if status == 503 else None
    if isinstance(error, IndexMissingError):
        return refuse(status, "there is no published index yet; it is picked up when there is one", headers)
    if isinstance(error, QueryTimeoutError):
        return refuse(status, f"{error.reason}; narrow it with a filter, or ask for less")
    return refuse(status, sentence(error), headers)


async def _on_wrong_parameters(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  # by registration
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"][1:])[:100]
    if first["type"] == "extra_forbidden":
        return refuse(422, f"{name} is no parameter here; /openapi.json lists them")
    if first["type"] == "missing":
        return refuse(422, f"the parameter {name} is missing")
    return refuse(422, f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}")


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  # by registration
    sentences = {
        404: f"there is nothing at {request.url.path[:200]}; /openapi.json lists what there is",
        405: f"{request.url.path[:200]} does not take {request.method[:20]}",
    }
    phrase = error.detail or HTTPStatus(error.status_code).phrase
    return refuse(error.status_code, sentences.get(error.status_code, phrase), dict(error.headers or {}))


async def _on_large_body(_: Request, __: Exception) -> Response:
    return refuse(413, BODY_TOO_LARGE, {"connection": "close"})


async def _on_slow_body(_: Request, __: Exception) -> Response:
    return refuse(408, "the body did not arrive in time; send it again", {"connection": "close"})


async def _on_disconnect(_: Request, __: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _on_fault(_: Request, __: Exception) -> Response:
    return refuse(500, "the server failed on this request; its log says why")
