"""Opens what a repository specification names: a commit, a work tree, or a plain folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from repolake.attributes import Attributes, folder_attributes, tree_attributes
from repolake.entries import Entry
from repolake.errors import RepositoryNotFoundError, SourceError, UnknownNameError, UsageError
from repolake.folder import walk
from repolake.git_history import LastCommit, last_commits
from repolake.git_mirror import fetch_mirror, mirror_path
from repolake.git_repository import Commit, GitRepository
from repolake.ignored_later import with_ignoring_lines, without_forced
from repolake.lake import Lake
from repolake.locations import allowed_address, is_folder, is_url, local_path, public_url, repository_name
from repolake.path_names import path_bytes
from repolake.records import Repository, RepositorySpec, Snapshot, Source, SourceMode
from repolake.settings import Settings

FOLDER_REF = "folder"
WORKTREE_SUFFIX = "+worktree"


@dataclass(frozen=True, slots=True)
class Checkout:
    """One ref of one repository, found and ready to be listed.

    `commit` is null for a folder or work tree. The ref of a plain folder is `folder`; that of a work tree is
    its branch and `+worktree`, so that it never replaces the branch's own snapshot.
    """

    repository: Repository
    ref: str
    mode: SourceMode
    root: Path
    git: GitRepository | None
    commit: Commit | None
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        """Where a snapshot's bytes can be read again."""
        return Source(str(self.root), self.mode, self.commit.commit if self.commit else None)

    def entries(self, data_dir: Path, commit_limit: int) -> list[Entry]:
        """Return every path once; of history, at most `commit_limit` commits are read."""
        if self.git is None:
            return list(walk(self.root, None, data_dir))
        if self.commit is None:
            entries = list(walk(self.root, self.git, data_dir))
        else:
            entries = list(self.git.entries(self.commit.commit))
            entries = with_ignoring_lines(self.git, self.commit.commit, entries)
        return without_forced(self.git, self._head(), entries, commit_limit)

    def attributes(self, paths: list[str]) -> dict[str, Attributes]:
        """Return the linguist attributes of the paths that have any."""
        if self.commit is not None and self.git is not None:
            return tree_attributes(self.git, self.commit.tree, paths)
        return folder_attributes(self.root, self.git, paths)

    def last_commits(self, paths: set[str], commit_limit: int) -> dict[str, LastCommit]:
        """Return the last commit of each path as far as history is read; nothing for a plain folder.

        An uncommitted file of a work tree counts as changed when it was written, not before its HEAD was.
        """
        if self.git is None:
            return {}
        head = self._head()
        found = last_commits(self.git, head, paths, commit_limit) if head is not None else {}
        if self.commit is None:
            earliest = self.git.resolve(None).committed_at if head is not None else None
            for path in self.git.uncommitted_paths() & paths:
                with contextlib.suppress(OSError):  # gone since it was listed: its reading will say so
                    written = (self.root / os.fsdecode(path_bytes(path))).stat().st_mtime
                    time = datetime.fromtimestamp(written, UTC)
                    found[path] = LastCommit(max(time, earliest or time), None)
        return found

    def with_root_commit(self) -> Checkout:
        """Return the checkout with its root commit, which costs a walk along first parents."""
        if self.git is None:
            return self
        head = self._head()
        root = self.git.root_commit(head) if head else None
        return replace(self, repository=replace(self.repository, root_commit=root))

    def _head(self) -> str | None:
        """Return the commit whose history is read: that of a work tree is its HEAD, if it has one."""
        if self.commit is not None or self.git is None:
            return self.commit.commit if self.commit else None
        return self.git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}")


def open_checkout(
    spec: RepositorySpec,
    ref: str | None,
    *,
    lake: Lake,
    settings: Settings,
    run_id: str,
    previous: Snapshot | None,
) -> Checkout:
    """Find what a specification names; a URL is fetched into its mirror.

    Raises RepositoryNotFoundError for a path that holds nothing and was never indexed, SourceError for one
    that is gone, may not be read or has lost its repository, GitError and GitTimeoutError for a remote,
    UsageError for a combination without a meaning.
    """
    if is_url(spec.location):
        return _open_remote(spec, ref, lake, settings, run_id)
    root = local_path(spec.location)
    found = is_folder(root)
    if not found:
        if previous is not None:
            raise SourceError(str(root), "the folder is gone")
        what = "does not exist" if found is None else "is a file"
        raise RepositoryNotFoundError(f"{root} {what}", "name a git repository, a folder, or a URL")
    git = GitRepository.find(root)
    if git is None:
        return _open_folder(spec, ref, root, previous)
    remote = git.remote_url()
    default_ref = spec.refs[0] if spec.refs else git.default_ref()
    mode = SourceMode.WORKTREE if spec.worktree else SourceMode.COMMIT
    commit: Commit | None = None
    notes: tuple[str, ...] = ()
    if spec.worktree:
        if git.work_tree is None:
            raise UsageError(f"{root} is a bare repository", "index it without --worktree")
        if ref is not None:
            raise UsageError(
                "--worktree reads the files on disk, not a ref", "use --ref or --worktree, not both"
            )
        default_ref = git.default_ref() + WORKTREE_SUFFIX
    else:
        commit = git.resolve(ref)
        changed = git.changed_file_count() if ref is None else 0
        if changed:
            files = "1 file has" if changed == 1 else f"{changed} files have"
            notes = (
                f"{files} uncommitted changes that are not indexed; --worktree indexes the files on disk",
            )
    repository = _repository(repository_name(spec.name, remote, root), str(root), remote, default_ref)
    return Checkout(repository, commit.ref if commit else default_ref, mode, root, git, commit, notes)


def _open_remote(
    spec: RepositorySpec, ref: str | None, lake: Lake, settings: Settings, run_id: str
) -> Checkout:
    if spec.worktree:
        raise UsageError("a URL has no work tree", "index it without --worktree")
    address = allowed_address(spec.location)
    git = fetch_mirror(lake.mirrors_dir, address, settings, run_id)
    commit = git.resolve(ref)
    root = mirror_path(lake.mirrors_dir, address).resolve()
    default_ref = spec.refs[0] if spec.refs else git.default_ref()
    name = spec.name or address.name
    repository = _repository(name, address.url, address.url, default_ref)
    return Checkout(repository, commit.ref, SourceMode.COMMIT, root, git, commit)


def _open_folder(spec: RepositorySpec, ref: str | None, root: Path, previous: Snapshot | None) -> Checkout:
    if previous is not None and previous.ref != FOLDER_REF:
        raise SourceError(str(root), "it is no git repository any more")
    if ref is not None:
        raise UsageError(f"{root} is no git repository and has no ref {ref!r}", "index it without --ref")
    if spec.worktree:
        raise UsageError(f"{root} is no git repository and has no work tree", "index it without --worktree")
    repository = _repository(repository_name(spec.name, None, root), str(root), None, FOLDER_REF)
    notes: tuple[str, ...] = ()
    around = GitRepository.around(root)
    if around is not None:
        note = (
            f"{root} lies in the git repository {around} and is read as a plain folder: the files on disk, "
        )
        notes = (f"{note}without the ignore files above it; name {around} to index the repository",)
    return Checkout(repository, FOLDER_REF, SourceMode.FOLDER, root, None, None, notes)


def _repository(name: str, location: str, remote: str | None, default_ref: str) -> Repository:
    return Repository(name, location, public_url(remote), None, default_ref, datetime.now(UTC))


def missing_refs(
    spec: RepositorySpec, refs: Iterable[str], lake: Lake
) -> Iterator[tuple[str, UnknownNameError]]:
    """Yield each of these refs that the repository no longer has, with the error that says so.

    Nothing is fetched: the mirror of a URL is taken as it is. Plain folders and work trees have no such refs.

    Raises SourceError, UsageError when the repository cannot be read.
    """
    if is_url(spec.location):
        root = mirror_path(lake.mirrors_dir, allowed_address(spec.location))
    else:
        root = local_path(spec.location)
    git = GitRepository.find(root) if is_folder(root) else None
    for ref in refs:
        if git is None or ref == FOLDER_REF or ref.endswith(WORKTREE_SUFFIX):
            continue
        try:
            git.resolve(ref)
        except UnknownNameError as error:
            yield ref, error


def content_hash(rows: Iterable[tuple[str, str]]) -> str:
    """Return the commit of files on disk: a hash of their sorted paths and contents (or skip rules)."""
    digest = hashlib.sha1(usedforsecurity=False)
    for path, content in sorted(rows):
        digest.update(f"{path}\0{content}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
