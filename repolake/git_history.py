"""When and by whom each path was last changed: one pass over history, not one git call a file.

One `git log` lists commits from newest to oldest with the paths that each changed; the first commit seen
that changed a path is its last one. Merges count for paths that differ from every parent. The pass stops
when every path has been seen, or after `commit_limit` commits: older paths have no answer then. Nor have
the files of a shallow clone that were last changed before its boundary.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repolake.git_command import end_group, start_git
from repolake.git_repository import GitRepository
from repolake.path_names import path_text

_READ_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The last commit that changed a path; the time is UTC."""

    committed_at: datetime
    author: str


def last_commits(
    repository: GitRepository, commit: str, paths: set[str], commit_limit: int
) -> dict[str, LastCommit]:
    """Return the last commit of each path, as far as the limit reaches; 0 reads no history."""
    found: dict[str, LastCommit] = {}
    if commit_limit == 0 or not paths:
        return found
    boundary = _shallow_boundary(repository)
    process = start_git(
        [f"--git-dir={repository.git_dir}", "log", f"--max-count={commit_limit}", "--raw", "-c", "-z",
         "--no-renames", "--no-abbrev", "--root", "--no-ext-diff", "--no-show-signature", "--encoding=UTF-8",
         "--format=tformat:%x01%H %ct %an", commit],
        repository.location,
        errors=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        current: LastCommit | None = None
        is_path = False
        for token in _tokens(process.stdout):
            if is_path:
                is_path = False
                path = path_text(token)
                if current is not None and path in paths and path not in found:
                    found[path] = current
                    if len(found) == len(paths):
                        break
            elif token.startswith(b"\x01"):
                name, seconds, author = token[1:].split(b" ", 2)
                is_known = name not in boundary
                current = (
                    LastCommit(datetime.fromtimestamp(int(seconds), UTC), author.decode("utf-8", "replace"))
                    if is_known
                    else None
                )
            elif token.lstrip(b"\n").startswith(b":"):
                is_path = True
    finally:
        end_group(process)
    return found


def _tokens(stream: object) -> Iterator[bytes]:
    rest = b""
    while block := stream.read(_READ_BYTES):  # type: ignore[attr-defined]
        *tokens, rest = (rest + block).split(b"\0")
        yield from tokens


def _shallow_boundary(repository: GitRepository) -> frozenset[bytes]:
    """Return the commits whose parents a shallow clone has lost: git shows them as adding every file."""
    if not repository.is_shallow:
        return frozenset()
    name = repository.ask("rev-parse", "--git-path", "shallow")
    file = Path(repository.git_dir, "shallow") if name is None else Path(name)
    return frozenset(file.read_bytes().split()) if file.is_file() else frozenset()
