"""When and by whom each path was last changed: one pass over history, not one git call a file.

One `git log` lists commits from newest to oldest with the paths that each changed; the first commit seen
that changed a path is its last one. Merges count for paths that differ from every parent. The pass stops
when every path has been seen, or after `commit_limit` commits: older paths have no answer then. Nor have
the files of a shallow clone that were last changed before its boundary.
"""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repolake.git_command import end_group, start_git
from repolake.git_repository import GitRepository
from repolake.path_names import path_text

_READ_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class LastCommit:
    """The last commit that changed a path; the time is UTC.

    An uncommitted file has no author: the next commit, from the time at which the file was written.
    """

    committed_at: datetime
    author: str | None


def last_commits(
    repository: GitRepository, commit: str, paths: set[str], commit_limit: int
) -> dict[str, LastCommit]:
    """Return the last commit of each path, as far as the limit reaches; 0 reads no history."""
    found: dict[str, LastCommit] = {}
    with closing(_changes(repository, commit, commit_limit if paths else 0)) as changes:
        for _, change, path in changes:
            if path in paths and path not in found:
                found[path] = change
                if len(found) == len(paths):
                    break
    return found


def adding_commits(
    repository: GitRepository, commit: str, paths: set[str], commit_limit: int
) -> dict[str, str]:
    """Return the id of the commit that last added each path, as far as the limit reaches."""
    found: dict[str, str] = {}
    with closing(_changes(repository, commit, commit_limit if paths else 0, "--diff-filter=A")) as changes:
        for name, _, path in changes:
            if path in paths and path not in found:
                found[path] = name
                if len(found) == len(paths):
                    break
    return found


def _changes(
    repository: GitRepository, commit: str, commit_limit: int, *options: str
) -> Generator[tuple[str, LastCommit, str], None, None]:
    """Yield commit id, time with author, and path of each change, newest commit first.

    Commits at the boundary of a shallow clone are left out: git shows them as adding every file.
    """
    if commit_limit == 0:
        return
    boundary = _shallow_boundary(repository)
    process = start_git(
        [f"--git-dir={repository.git_dir}", "log", f"--max-count={commit_limit}", "--raw", "-c", "-z",
         "--no-renames", "--no-abbrev", "--root", "--no-ext-diff", "--no-show-signature", "--encoding=UTF-8",
         "--format=tformat:%x01%H %ct %an", *options, commit],
        repository.location,
        errors=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        current: tuple[str, LastCommit] | None = None
        is_path = False
        for token in _tokens(process.stdout):
            if is_path:
                is_path = False
                if current is not None:
                    yield *current, path_text(token)
            elif token.startswith(b"\x01"):
                name, seconds, author = token[1:].split(b" ", 2)
                time = datetime.fromtimestamp(int(seconds), UTC)
                change = LastCommit(time, author.decode("utf-8", "replace"))
                current = None if name in boundary else (name.decode("ascii"), change)
            elif token.lstrip(b"\n").startswith(b":"):
                is_path = True
    finally:
        end_group(process)


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
