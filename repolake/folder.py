"""A directory on disk: every path below it once, ignore files obeyed as git obeys them.

The walk is ours, because git lists neither FIFOs nor unreadable folders. What is ignored is git's own
answer: each folder's names go through one `git check-ignore` process, which reads the nested
`.gitignore` files itself. A plain folder is asked about with an empty temporary repository and without the
user's own exclude files, so that the answer is the same on every machine; a work tree is asked about as git
sees it. An ignored folder is one row and is not entered. Symbolic links are never followed.
"""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from repolake.entries import Entry
from repolake.errors import FileUnreadableError, GitError, SourceError
from repolake.git_command import end_group, environment, git_message, run_git, start_git
from repolake.git_repository import GitRepository
from repolake.path_names import path_bytes, path_text
from repolake.reading import FileSource, blob_id
from repolake.skip_rules import SkipReason

_BATCH_BYTES = 8192  # bytes of names per question: the answers then fit in a pipe's buffer
_SPECIAL = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}


class IgnoreChecker:
    """Asks git which names of a folder are ignored, and by which line; a context manager."""

    def __init__(self, root: Path, repository: GitRepository | None) -> None:
        self._stack = ExitStack()
        if repository is None:
            git_dir = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="repolake-"))
            run_git(["init", "--quiet", "--bare", git_dir], str(root))
        else:
            git_dir = repository.git_dir
        configuration = {"core.bare": "false"}
        if repository is None:
            configuration["core.excludesFile"] = os.devnull
        self._location = str(root)
        # `--no-index`: git would go through its whole index for each name; `_Tracked` knows it as a set.
        # A file, not a pipe: nobody reads along, and a full pipe would stop git.
        self._errors: IO[bytes] = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        self._process: subprocess.Popen[bytes] = start_git(
            [f"--git-dir={git_dir}", f"--work-tree={root}", "-C", str(root),
             "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"],
            str(root),
            variables=environment(
                configuration=configuration, has_user_configuration=repository is not None
            ),
            has_input=True,
            errors=self._errors,
        )  # fmt: skip
        self._stack.callback(end_group, self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def rules(self, paths: Sequence[bytes]) -> list[str | None]:
        """Return for each path the line that ignores it, such as `web/.gitignore:2:/deps/`, or None.

        Raises SourceError when git stops answering.
        """
        found: list[str | None] = []
        batch: list[bytes] = []
        size = 0
        for path in paths:
            batch.append(path)
            size += len(path) + 3
            if size >= _BATCH_BYTES:
                found += self._ask(batch)
                batch, size = [], 0
        return found + self._ask(batch) if batch else found

    def _ask(self, paths: Sequence[bytes]) -> list[str | None]:
        questions, answers = self._process.stdin, self._process.stdout
        assert questions is not None and answers is not None  # noqa: S101, PT018  # opened as pipes
        try:
            # `./` keeps a name that begins with a colon from being read as pathspec magic.
            questions.write(b"".join(b"./" + path + b"\0" for path in paths))
            questions.flush()
        except BrokenPipeError as error:
            raise self._failure() from error
        received: list[bytes] = []
        missing = 4 * len(paths)
        while missing:
            block = os.read(answers.fileno(), 65536)
            if not block:
                raise self._failure()
            received.append(block)
            missing -= block.count(b"\0")
        fields = b"".join(received).split(b"\0")
        return [_ignoring_line(*fields[start : start + 3]) for start in range(0, len(fields) - 1, 4)]

    def _failure(self) -> SourceError:
        self._process.wait()
        self._errors.seek(0)
        return GitError(self._location, git_message(self._errors.read()) or "git check-ignore ended early")


def _ignoring_line(source: bytes, line: bytes, pattern: bytes) -> str | None:
    if not pattern or pattern.startswith(b"!"):
        return None
    return path_text(b":".join((source, line, pattern)))


def walk(root: Path, repository: GitRepository | None, data_dir: Path) -> Iterator[Entry]:
    """Yield every path below a folder once, sorted within each folder, and each ignored folder as one row.

    With `repository` the folder is its work tree: tracked files, and untracked ones that git does not
    ignore. Raises SourceError when the folder itself cannot be listed.
    """
    tracked = _Tracked.of(repository) if repository is not None else _Tracked()
    skipped_dir = data_dir.expanduser().resolve()
    with IgnoreChecker(root, repository) as checker:
        pending = [b""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(os.path.join(os.fsencode(root), folder)) as listing:
                    items = sorted(listing, key=lambda item: item.name)
            except OSError as error:
                if not folder:
                    raise SourceError(str(root), error.strerror or str(error)) from error
                yield Entry(path_text(folder), error=f"the folder cannot be read: {error.strerror}")
                continue
            prefix = folder + b"/" if folder else b""
            items = [item for item in items if item.name != b".git"]
            paths = [prefix + item.name for item in items]
            below = []
            for item, path, rule in zip(items, paths, checker.rules(paths), strict=True):
                entry = _entry(item, path, rule, tracked, skipped_dir)
                if entry is None:
                    below.append(path)
                else:
                    yield entry
            pending += reversed(below)


class _Tracked:
    """The paths in a repository's index: files, submodules, and all folders above them."""

    def __init__(self) -> None:
        self.files: set[bytes] = set()
        self.submodules: set[bytes] = set()
        self.folders: set[bytes] = set()

    @classmethod
    def of(cls, repository: GitRepository) -> _Tracked:
        tracked = cls()
        for line in repository.git("ls-files", "--stage", "-z").split(b"\0"):
            if not line:
                continue
            head, path = line.split(b"\t", 1)
            (tracked.submodules if head.startswith(b"160000") else tracked.files).add(path)
            folder = path.rpartition(b"/")[0]
            while folder and folder not in tracked.folders:
                tracked.folders.add(folder)
                folder = folder.rpartition(b"/")[0]
        return tracked


def _entry(
    item: os.DirEntry[bytes], path: bytes, rule: str | None, tracked: _Tracked, data_dir: Path
) -> Entry | None:
    """Return the row of one path, or None for a folder to enter."""
    name = path_text(path)
    try:
        state = item.stat(follow_symlinks=False)
    except OSError as error:
        return Entry(name, error=error.strerror or str(error))
    if path in tracked.submodules:
        return Entry(name, skip_reason=SkipReason.SUBMODULE, skip_rule="submodule")
    if stat.S_ISDIR(state.st_mode):
        if item.name == b".repolake" or Path(os.fsdecode(item.path)) == data_dir:
            return Entry(name, skip_reason=SkipReason.DATA_DIR, skip_rule="data folder of repolake")
        if _is_repository(item.path) and path not in tracked.folders:
            return Entry(name, skip_reason=SkipReason.NESTED_REPOSITORY, skip_rule="nested repository")
        if rule is not None and path not in tracked.folders:
            return Entry(name, skip_reason=SkipReason.IGNORED, skip_rule=rule)
        return None
    if rule is not None and path not in tracked.files:
        return Entry(name, size_bytes=state.st_size, skip_reason=SkipReason.IGNORED, skip_rule=rule)
    if stat.S_ISLNK(state.st_mode):
        return Entry(name, skip_reason=SkipReason.SYMLINK, skip_rule="symbolic link")
    if not stat.S_ISREG(state.st_mode):
        what = _SPECIAL.get(stat.S_IFMT(state.st_mode), "special file")
        return Entry(name, skip_reason=SkipReason.SPECIAL_FILE, skip_rule=what)
    return Entry(name, size_bytes=state.st_size, ignored_by=rule if _is_of_the_tree(rule) else None)


def _is_of_the_tree(rule: str | None) -> bool:
    """Whether a line is of a `.gitignore` in the tree, not of a file that this machine alone has."""
    return rule is not None and not rule.startswith(("/", ".git/"))


def _is_repository(folder: bytes) -> bool:
    """Whether a folder is a repository, a submodule or a linked worktree of its own."""
    git = os.path.join(folder, b".git")
    return os.path.isfile(git) or os.path.exists(os.path.join(git, b"HEAD"))


class DiskReader(FileSource):
    """Reads files below a folder; never a link, never more than was asked for.

    What a blob no longer matches has changed since it was listed: a FileUnreadableError, like a file that
    cannot be read or is no regular one.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read_many(self, files: Sequence[tuple[str, str | None]]) -> Iterator[bytes | SourceError]:
        """Yield the content of each (path, blob) in order, or the error that reading it gave."""
        for path, blob in files:
            try:
                content = self._content(path)
            except FileUnreadableError as error:
                yield error
                continue
            if blob is not None and blob_id(content, is_sha256=len(blob) == 64) != blob:
                yield FileUnreadableError(str(self._root), "it changed while repolake was running", path)
            else:
                yield content

    def _content(self, path: str) -> bytes:
        full = os.path.join(os.fsencode(self._root), path_bytes(path))
        try:
            # Non-blocking: a FIFO put in the file's place must not stop the run.
            descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return file.read()
        except OSError as error:
            raise FileUnreadableError(str(self._root), error.strerror or str(error), path) from error
        raise FileUnreadableError(str(self._root), "it is no regular file any more", path)
