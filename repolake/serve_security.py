"""Who may ask a server, from where, and with which headers it answers."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from repolake.errors import SettingsError
from repolake.serve_limits import MAX_BODY_BYTES
from repolake.settings import Settings

# What a stranger may see: that the server lives, and pages that hold no data.
OPEN_PATHS = frozenset({"/", "/status.html", "/healthz", "/openapi.json"})
OPEN_FOLDER = "/pages/"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask. `token_digest`: SHA-256 of the token; `hosts`: allowed names in Host, null for any."""

    token_digest: bytes | None
    hosts: frozenset[str] | None

    def allows_token(self, authorization: str | None) -> bool:
        """Whether the Authorization header holds the token; compared in constant time."""
        if self.token_digest is None:
            return True
        scheme, _, token = (authorization or "").partition(" ")
        given = hashlib.sha256(token.strip().encode()).digest()
        return hmac.compare_digest(given, self.token_digest) and scheme.lower() == "bearer"

    def allows_host(self, host: str | None) -> bool:
        """Whether the Host header names this server: a web page must not reach it under a name of its own."""
        return self.hosts is None or host_name(host or "") in self.hosts


def make_access(settings: Settings, host: str) -> Access:
    """Return who may ask a server that listens on `host`.

    Raises SettingsError for an unreadable or empty token, and for a server that other machines can reach
    without one, unless the settings allow that.
    """
    token = _token(settings)
    if token is not None:
        return Access(hashlib.sha256(token.encode()).digest(), None)
    if settings.serve_without_token:
        return Access(None, None)
    if is_loopback(host):
        return Access(None, LOOPBACK_NAMES | {host.lower()})
    raise SettingsError(
        f"other machines could read the whole index at {host} without a token",
        "set REPOLAKE_SERVE_TOKEN_FILE, or REPOLAKE_SERVE_WITHOUT_TOKEN=true if something else guards it",
    )


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(host: str) -> str:
    """Return the name in a Host header, in lower case, without port and brackets."""
    name, colon, port = host.strip().lower().rpartition(":")
    if not colon or not port.isdigit():
        name = host.strip().lower()
    return name.strip("[]")


def _token(settings: Settings) -> str | None:
    if settings.serve_token is not None and settings.serve_token_file is not None:
        raise SettingsError("there are two tokens", "unset REPOLAKE_SERVE_TOKEN or REPOLAKE_SERVE_TOKEN_FILE")
    if settings.serve_token_file is None:
        token = settings.serve_token.get_secret_value() if settings.serve_token is not None else None
        place = "REPOLAKE_SERVE_TOKEN"
    else:
        place = str(settings.serve_token_file)
        token = _read(settings.serve_token_file)
    if token is not None and not (token := token.strip()):
        raise SettingsError(
            f"{place} holds no token", "write one into it, such as `openssl rand -hex 32` gives"
        )
    return token


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the token in {path} cannot be read ({error})", "correct the file") from error


class Gate:
    """Refuses what may not come in, and puts the security headers on every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with a refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if not self._access.allows_host(headers.get("host")):
            return refuse(
                400, "this server answers to the name localhost alone; use it, or give the server a token"
            )
        path = scope["path"]
        is_open = path in OPEN_PATHS or path.startswith(OPEN_FOLDER)
        if not is_open and not self._access.allows_token(headers.get("authorization")):
            return refuse(
                401,
                "this server asks for a token; send it in the header `Authorization: Bearer TOKEN`",
                {"www-authenticate": 'Bearer realm="repolake"'},
            )
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > MAX_BODY_BYTES:
            return refuse(413, BODY_TOO_LARGE, {"connection": "close"})
        return None


BODY_TOO_LARGE = f"the body of a request may have {MAX_BODY_BYTES:,} bytes; send less"


def refuse(status: int, sentence: str, headers: dict[str, str] | None = None) -> Response:
    """Return an answer that says in one sentence what is wrong."""
    body = json.dumps({"error": sentence}, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, headers, media_type="application/json")
