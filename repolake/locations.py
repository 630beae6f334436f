"""Where a repository is: a path or a URL, what it is called, and its address without credentials."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from repolake.errors import SourceError, UsageError

SCHEMES = ("https", "http", "ssh", "git", "file")
_SCP_LIKE = re.compile(r"^(?:([\w.+-]+)@)?(\w[\w.-]*):(?!//|:)([^\\].*)$")


@dataclass(frozen=True, slots=True)
class Address:
    """A remote address taken apart. `url` holds no credentials; user and password go to git alone."""

    url: str
    scheme: str
    host: str
    path: str
    user: str | None
    password: str | None

    @property
    def name(self) -> str:
        """The repository's name: owner/name on a host, else the last part of the path."""
        parts = [part for part in self.path.removesuffix("/").removesuffix(".git").split("/") if part]
        return "/".join(parts) if self.host else (parts[-1] if parts else "")


def is_url(location: str) -> bool:
    """Whether a location is a remote address rather than a path on this machine."""
    if "://" in location:
        return True
    return _SCP_LIKE.match(location) is not None and is_gone(location)


def local_path(location: str) -> Path:
    """Return the absolute path of a location on this machine, links followed as far as they lead."""
    try:
        path = Path(location).expanduser()
    except RuntimeError:  # `~name` of a user whom nobody knows is a name like any other
        path = Path(location)
    return Path(os.path.realpath(path))


def is_folder(path: Path) -> bool | None:
    """Whether a folder is at a path, or None if nothing is.

    Raises SourceError when that cannot be told: what may not be looked at is not gone.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SourceError(str(path), error.strerror or str(error)) from error


def is_gone(location: str) -> bool:
    """Whether nothing is at a path; what may not be looked at is not gone."""
    try:
        return is_folder(Path(location)) is None
    except SourceError:
        return False


def parse_address(url: str) -> Address | None:
    """Return a URL (or `user@host:path`) taken apart, or None for a plain path."""
    if "://" not in url:
        match = _SCP_LIKE.match(url)
        if match is None or not is_gone(url):
            return None
        user, host, path = match[1], match[2], match[3]
        return Address(f"{user}@{host}:{path}" if user else url, "ssh", host, path.lstrip("/"), None, None)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UsageError("an address cannot be read", f"correct it: {error}") from error
    name = parts.hostname or ""
    host = (f"[{name}]" if ":" in name else name) + (f":{port}" if port else "")
    netloc = host
    user, password = parts.username, parts.password
    if parts.scheme == "ssh" and user:
        netloc, user = f"{user}@{host}", None  # an SSH user is no secret: git@host
    clean = urlunsplit((parts.scheme, netloc, parts.path, "", ""))
    return Address(
        clean,
        parts.scheme,
        name,
        unquote(parts.path).lstrip("/") if host else unquote(parts.path),
        unquote(user) if user else None,
        unquote(password) if password else None,
    )


def allowed_address(url: str) -> Address:
    """Return a URL taken apart.

    Raises UsageError for a scheme that git could turn into a program to run (`ext::`) or does not know.
    """
    address = parse_address(url)
    if address is None or address.scheme not in SCHEMES:
        scheme = url.partition("://")[0].partition("::")[0]
        raise UsageError(
            f"{scheme!r} is no kind of address that repolake reads", f"use {', '.join(SCHEMES)} or a path"
        )
    return address


def public_url(url: str | None) -> str | None:
    """Return a remote's address without credentials."""
    if url is None:
        return None
    address = parse_address(url)
    return url if address is None else address.url


def repository_name(name: str | None, remote: str | None, folder: Path) -> str:
    """Return the given name, else owner/name of the remote, else the folder's name."""
    if name:
        return name
    address = parse_address(remote) if remote else None
    if address is not None and address.host and address.name:
        return address.name
    own = folder.parent.name if folder.name == ".git" else folder.name
    return own.removesuffix(".git") or "root"
