"""A git repository read from its object store: refs, the files of a commit, and blobs; no checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from repolake.entries import Entry
from repolake.errors import GitError, SourceError, UnknownNameError, UsageError
from repolake.git_command import end_group, environment, run_git, start_git
from repolake.locations import is_folder
from repolake.path_names import path_text
from repolake.reading import FileSource
from repolake.skip_rules import SkipReason

_REQUESTS = 256
_MISSING = "the object is not in this partial clone; run `git fetch` there"


@dataclass(frozen=True, slots=True)
class Commit:
    """What a ref points to. `committed_at` is in UTC."""

    ref: str
    commit: str
    tree: str
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class GitRepository:
    """One repository: bare, a checkout, a linked worktree, or a mirror. `work_tree` is null if bare."""

    location: str
    git_dir: str
    work_tree: Path | None
    is_shallow: bool
    is_sha256: bool

    @classmethod
    def find(cls, location: Path) -> GitRepository | None:
        """Return the repository whose root or git directory is this folder, else None.

        Raises GitError when the folder has a `.git` that git cannot read, SourceError when nobody may look.
        """
        variables = environment({"GIT_CEILING_DIRECTORIES": str(location.parent)})
        question = ["-C", str(location), "rev-parse", "--absolute-git-dir", "--is-shallow-repository"]
        question += ["--show-object-format", "--is-bare-repository", "--is-inside-work-tree"]
        try:
            answer = run_git(question, str(location), variables=variables).decode("utf-8", "surrogateescape")
        except GitError:
            if is_folder(location / ".git") is not None:
                raise
            return None
        git_dir, is_shallow, algorithm, is_bare, is_inside = answer.rsplit("\n", 5)[:5]
        return cls(
            location=str(location),
            git_dir=git_dir,
            work_tree=location if is_bare == "false" and is_inside == "true" else None,
            is_shallow=is_shallow == "true",
            is_sha256=algorithm == "sha256",
        )

    @classmethod
    def around(cls, folder: Path) -> str | None:
        """Return the root of the work tree that a folder lies in, or None."""
        try:
            answer = run_git(["-C", str(folder), "rev-parse", "--show-toplevel"], str(folder))
        except GitError:
            return None
        return answer.decode("utf-8", "surrogateescape").rstrip("\n") or None

    def git(self, *arguments: str, given: bytes | None = None) -> bytes:
        """Run one local git command on this repository and return its output."""
        return run_git([f"--git-dir={self.git_dir}", *arguments], self.location, given=given)

    def ask(self, *arguments: str) -> str | None:
        """Return the one-line answer of a git command, or None when it has none."""
        try:
            return self.git(*arguments).decode("utf-8", "replace").rstrip("\n") or None
        except GitError:
            return None

    def default_ref(self) -> str:
        """Return the branch that HEAD names, or `HEAD` while it names none."""
        return self.ask("symbolic-ref", "--quiet", "--short", "HEAD") or "HEAD"

    def resolve(self, ref: str | None) -> Commit:
        """Return what a branch, tag, remote branch or commit id points to; None is HEAD.

        Raises UnknownNameError when there is no such ref, UsageError when there is no commit at all.
        """
        name = ref or self.default_ref()
        for candidate in [name, f"refs/remotes/origin/{name}"] if ref else ["HEAD"]:
            answer = self.ask(
                "log", "-1", "--format=%H %T %ct", "--no-show-signature", "--end-of-options", candidate
            )
            if answer:
                commit, tree, seconds = answer.split(" ")
                return Commit(name, commit, tree, datetime.fromtimestamp(int(seconds), UTC))
        if ref is None:
            raise UsageError(
                f"{self.location} has no commit yet", "commit first, or index it with --worktree"
            )
        known = self.ask("for-each-ref", "--count=8", "--format=%(refname:short)", "refs/heads", "refs/tags")
        known_names = ", ".join((known or "none").split("\n"))
        raise UnknownNameError(f"{self.location} has no ref {ref!r}", f"it has: {known_names}")

    def remote_url(self) -> str | None:
        """Return the URL of `origin`, else of the first remote, as configured (it may hold credentials)."""
        origin = self.ask("config", "--get", "remote.origin.url")
        if origin:
            return origin
        first = self.ask("config", "--get-regexp", r"^remote\..*\.url$")
        return first.split("\n")[0].split(" ", 1)[1] if first else None

    def root_commit(self, commit: str) -> str | None:
        """Return the first commit along first parents; null for a shallow clone, which has lost it."""
        if self.is_shallow:
            return None
        return self.ask("rev-list", "--first-parent", "--max-parents=0", commit)

    def is_partial(self) -> bool:
        """Whether objects may be missing because the clone was made with a filter."""
        found = self.ask("config", "--get-regexp", r"^(remote\..*\.promisor|extensions\.partialclone)$")
        return found is not None

    def entries(self, commit: str) -> Iterator[Entry]:
        """Yield every path of a commit's tree, in git's order. Memory is bounded by the list of names.

        Raises GitError when trees are missing or broken.
        """
        missing = self._missing(commit) if self.is_partial() else frozenset()
        listing = self.git("ls-tree", "-r", "-z", "--full-tree", commit)
        rows = [_tree_row(line) for line in listing.split(b"\0") if line]
        del listing
        wanted = [blob for mode, blob, _ in rows if mode.startswith("100") and blob not in missing]
        sizes = self._sizes(wanted)
        for mode, blob, path in rows:
            if mode == "160000":
                yield Entry(path, blob, None, SkipReason.SUBMODULE, "submodule")
            elif blob in missing:
                yield Entry(path, blob, None, error=_MISSING)
            elif mode == "120000":
                yield Entry(path, blob, None, SkipReason.SYMLINK, "symbolic link")
            else:
                size = next(sizes)
                yield Entry(path, blob, size, error=None if size is not None else "the object is missing")

    def _missing(self, commit: str) -> frozenset[str]:
        listing = self.git("rev-list", "--objects", "--missing=print", "--no-walk", commit)
        lines = listing.decode("utf-8", "replace").split("\n")
        return frozenset(line[1:].split(" ")[0] for line in lines if line.startswith("?"))

    def _sizes(self, blobs: Sequence[str]) -> Iterator[int | None]:
        given = "".join(f"{blob}\n" for blob in blobs).encode()
        answer = self.git("cat-file", "--batch-check=%(objectsize)", "--buffer", given=given)
        for line in answer.split(b"\n")[: len(blobs)]:
            yield int(line) if line.isdigit() else None

    def changed_file_count(self) -> int:
        """Return how many tracked files differ from HEAD on disk or in the index.

        Only asked of our own repositories: comparing may run the filters that a configuration names.
        """
        return len(self._status("--untracked-files=no"))

    def uncommitted_paths(self) -> frozenset[str]:
        """Return the paths on disk or in the index that differ from HEAD or that no commit knows.

        None in a repository that is not ours, as in `changed_file_count`.
        """
        return frozenset(path_text(line[3:]) for line in self._status("--untracked-files=all"))

    def _status(self, *options: str) -> list[bytes]:
        if self.work_tree is None or not _is_ours(self.work_tree):
            return []
        status = run_git(
            [f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}", "status", "--porcelain", "-z",
             "--ignore-submodules=all", "--no-renames", *options],
            self.location,
        )  # fmt: skip
        return status.split(b"\0")[:-1]


class BlobReader(FileSource):
    """Reads blobs by id through one `git cat-file --batch` process.

    An object that is missing or broken is a GitError; the next blob can still be read.
    """

    def __init__(self, location: str, git_dir: str) -> None:
        self._location = location
        self._git_dir = git_dir
        self._process: subprocess.Popen[bytes] | None = None

    def read_many(self, files: Sequence[tuple[str, str | None]]) -> Iterator[bytes | SourceError]:
        """Yield the content of each (path, blob) in order, or the error that reading it gave."""
        for start in range(0, len(files), _REQUESTS):
            # Asking ahead spares a change of process for each blob; so few requests always fit in the pipe.
            yield from self._read_batch(files[start : start + _REQUESTS])

    def _read_batch(self, files: Sequence[tuple[str, str | None]]) -> Iterator[bytes | SourceError]:
        answered = 0
        try:
            while answered < len(files):
                process = self._process or self._start()
                is_alive = _ask(process, files[answered:])
                while answered < len(files):
                    content = _answer(process) if is_alive else None
                    answered += 1
                    yield self._missing(*files[answered - 1]) if content is None else content
                    if content is None and process.poll() is not None:
                        self.close()  # git gives up at a broken object: a fresh process reads the rest
                        break
        finally:
            if answered < len(files):
                self.close()  # answers that nobody took would be taken for those of the next question

    def _missing(self, path: str, blob: str | None) -> GitError:
        return GitError(f"{self._location}: {path}", f"the object {blob} is missing or broken")

    def _start(self) -> subprocess.Popen[bytes]:
        arguments = [f"--git-dir={self._git_dir}", "cat-file", "--batch"]
        self._process = start_git(arguments, self._location, has_input=True, errors=subprocess.DEVNULL)
        return self._process

    def close(self) -> None:
        """End git."""
        if self._process is not None:
            end_group(self._process)
            self._process = None


def _ask(process: subprocess.Popen[bytes], files: Sequence[tuple[str, str | None]]) -> bool:
    assert process.stdin is not None  # noqa: S101  # opened as a pipe
    try:
        process.stdin.write("".join(f"{blob}\n" for _, blob in files).encode())
        process.stdin.flush()
    except BrokenPipeError:
        process.wait()
        return False
    return True


def _answer(process: subprocess.Popen[bytes]) -> bytes | None:
    """Return the next content, or None for an object that git does not have or has given up at."""
    assert process.stdout is not None  # noqa: S101  # opened as a pipe
    header = process.stdout.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        if not header:
            process.wait()
        return None
    size = int(header[2])
    content = process.stdout.read(size + 1)
    if len(content) == size + 1:
        return content[:-1]
    process.wait()
    return None


def open_blobs(location: str) -> BlobReader:
    """Return a reader of the blobs of the repository at a folder.

    Raises GitError when there is none any more, SourceError when nobody may look.
    """
    repository = GitRepository.find(Path(location)) if is_folder(Path(location)) else None
    if repository is None:
        raise GitError(location, "it is no git repository any more")
    return BlobReader(location, repository.git_dir)


def _tree_row(line: bytes) -> tuple[str, str, str]:
    head, name = line.split(b"\t", 1)
    mode, _, blob = head.decode("ascii").split(" ")
    return mode, blob, path_text(name)


def _is_ours(folder: Path) -> bool:

    return folder.stat().st_uid == os.geteuid()
