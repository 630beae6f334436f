"""Tracked files that a `.gitignore` came to name after they were added: their owners meant them to go.

git goes on tracking such a file until somebody removes it. A file that a `.gitignore` named already when it
was added is another matter: somebody forced it in, and it stays. History tells the two apart; where it does
not (a shallow clone, a commit beyond the limit, a file not committed yet) the file stays, as with git.
"""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from repolake.entries import Entry
from repolake.errors import SourceError
from repolake.folder import IgnoreChecker
from repolake.git_history import adding_commits
from repolake.git_repository import BlobReader, GitRepository
from repolake.path_names import path_bytes

_IGNORE_FILE = ".gitignore"
_UNSAFE_NAMES = frozenset({"", ".", "..", ".git"})  # a crafted tree may hold them; git would not check it out


def with_ignoring_lines(repository: GitRepository, commit: str, entries: list[Entry]) -> list[Entry]:
    """Return the entries of a commit, each with the `.gitignore` line of that commit that names it."""
    if not any(entry.path.rpartition("/")[2] == _IGNORE_FILE for entry in entries):
        return entries
    paths = [entry.path for entry in entries if entry.skip_reason is None and entry.error is None]
    lines = _ignoring_lines(repository, {commit: paths})
    return [replace(entry, ignored_by=lines.get(entry.path)) for entry in entries] if lines else entries


def without_forced(
    repository: GitRepository, commit: str | None, entries: list[Entry], commit_limit: int
) -> list[Entry]:
    """Return the entries; only those that were ignored after they were added keep `ignored_by`."""
    named = {entry.path for entry in entries if entry.ignored_by is not None}
    if not named:
        return entries
    added = adding_commits(repository, commit, named, commit_limit) if commit is not None else {}
    paths: dict[str, list[str]] = defaultdict(list)
    for path, name in added.items():
        paths[name].append(path)
    later = added.keys() - _ignoring_lines(repository, paths).keys()
    return [entry if entry.path in later else replace(entry, ignored_by=None) for entry in entries]


def _ignoring_lines(repository: GitRepository, paths: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return for each path, keyed by commits, the `.gitignore` line of its commit that names it."""
    safe = {commit: [path for path in given if _is_safe(path)] for commit, given in paths.items()}
    places = sorted(
        {(commit, folder) for commit, given in safe.items() for path in given for folder in _folders(path)}
    )
    blobs = _ignore_files(repository, places)
    ignore_files: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for (commit, folder), blob in blobs.items():
        ignore_files[commit].append((folder, blob))
    groups: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for commit, named in ignore_files.items():
        groups[tuple(named)] += safe[commit]
    lines: dict[str, str] = {}
    with BlobReader(repository.location, repository.git_dir) as reader:
        for files, given in groups.items():
            with tempfile.TemporaryDirectory(prefix="repolake-") as root:
                _write_ignore_files(root, files, reader)
                with IgnoreChecker(Path(root), None) as checker:
                    found = checker.rules([path_bytes(path) for path in given])
            lines |= {path: line for path, line in zip(given, found, strict=True) if line is not None}
    return lines


def _ignore_files(repository: GitRepository, places: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the blob of the `.gitignore` at each (commit, folder) that has one."""
    questions = b"".join(
        b"%s:%s\n" % (commit.encode(), path_bytes(_ignore_file(folder))) for commit, folder in places
    )
    answer = repository.git(
        "cat-file", "--batch-check=%(objecttype) %(objectname)", "--buffer", given=questions
    )
    found = {}
    for place, line in zip(places, answer.split(b"\n"), strict=False):
        kind, _, name = line.partition(b" ")
        if kind == b"blob":
            found[place] = name.decode("ascii")
    return found


def _write_ignore_files(root: str, files: Sequence[tuple[str, str]], reader: BlobReader) -> None:
    contents = reader.read_many([(_ignore_file(folder), blob) for folder, blob in files])
    for (folder, _), content in zip(files, contents, strict=True):
        if not isinstance(content, SourceError):  # else it is missing in a partial clone, and names nothing
            target = Path(root, os.fsdecode(path_bytes(_ignore_file(folder))))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _ignore_file(folder: str) -> str:
    return f"{folder}/{_IGNORE_FILE}" if folder else _IGNORE_FILE


def _folders(path: str) -> Iterator[str]:
    """Yield the folders above a path, the root as an empty name."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _is_safe(path: str) -> bool:
    # git reads one question a line
    return "\n" not in path and _UNSAFE_NAMES.isdisjoint(path.split("/"))
