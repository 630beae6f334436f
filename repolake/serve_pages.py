"""The pages for people: files of the package, served as they are."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

FOLDER = Path(__file__).parent / "pages"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
SEARCH_PAGE = "search.html"
STATUS_PAGE = "status.html"

router = APIRouter(include_in_schema=False)


@router.get("/")
async def search_page(request: Request) -> Response:
    """Return the search page."""
    return _file(SEARCH_PAGE, request)


@router.get("/status.html")
async def status_page(request: Request) -> Response:
    """Return the status page."""
    return _file(STATUS_PAGE, request)


@router.get("/pages/{name}")
async def page_file(request: Request, name: str) -> Response:
    """Return a script, a style sheet or a picture of the pages."""
    return _file(name, request)


@cache
def _names() -> frozenset[str]:
    return frozenset(path.name for path in FOLDER.iterdir() if path.suffix in MEDIA_TYPES)


@cache
def _content(name: str) -> tuple[bytes, str]:
    body = (FOLDER / name).read_bytes()
    return body, f'"{hashlib.sha256(body).hexdigest()[:16]}"'


def _file(name: str, request: Request) -> Response:
    if name not in _names():  # the only names that reach the disk
        raise HTTPException(404)
    body, tag = _content(name)
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=MEDIA_TYPES[Path(name).suffix])
