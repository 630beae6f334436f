"""Reads `repolake.toml`: the list of repositories that a lake is to hold."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from repolake.errors import UsageError
from repolake.records import RepositorySpec


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    location: str
    name: str | None = None
    refs: list[str] = []
    worktree: bool = False
    include: list[str] = []
    exclude: list[str] = []


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    repositories: list[_Entry]


def read_repository_list(path: Path) -> tuple[RepositorySpec, ...]:
    """Return the repositories of a list; a relative path is relative to the file's folder.

    Raises UsageError when the file cannot be read, is no TOML, or has an unknown or missing key.
    """
    try:
        entries = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).repositories
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"cannot read {path}: {reason}", "correct the file") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {place}: {first['msg']}", "see the README for the keys") from error
    if not entries:
        raise UsageError(f"{path} lists no repository", "add one, or delete the data folder to forget all")
    return tuple(
        RepositorySpec(
            location=_located(entry.location, path.parent),
            name=entry.name,
            refs=tuple(entry.refs),
            worktree=entry.worktree,
            include=tuple(entry.include),
            exclude=tuple(entry.exclude),
        )
        for entry in entries
    )


def _located(location: str, folder: Path) -> str:
    is_remote = "://" in location or (":" in location.split("/", 1)[0])
    return location if is_remote else os.path.realpath(folder / location)
