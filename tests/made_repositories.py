"""Builds real git repositories and scans them, for the tests of the scan."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from repolake.lake import Lake
from repolake.records import RepositorySpec, ScanReport, Snapshot
from repolake.scan import scan
from repolake.settings import load_settings

AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str, when: int = 1_700_000_000, **variables: str) -> str:
    """Run git in a folder and return its output."""
    time = f"{when} +0000"
    environment = os.environ | AUTHOR | {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time} | variables
    options = ["-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]
    command = ["git", *options, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, env=environment).stdout.decode().strip()


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def make_repository(folder: Path, files: dict[str, str | bytes], *options: str) -> Path:
    """Return a new repository with one commit of these files, on branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main", *options)
    put(folder, files)
    return commit(folder, "first")


def commit(folder: Path, message: str, *, when: int = 1_700_000_000, author: str = "Ada") -> Path:
    """Commit everything in a work tree, also what is ignored."""
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message, when=when, GIT_AUTHOR_NAME=author)
    return folder


@dataclass(frozen=True)
class Scanned:
    """A report with the rows of its shard, by path."""

    report: ScanReport
    rows: dict[str, dict[str, Any]]

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot."""
        return self.report.snapshot

    @property
    def indexed(self) -> set[str]:
        """The paths that are indexed."""
        return {p for p, row in self.rows.items() if row["skip_reason"] is None and row["error"] is None}

    @property
    def skipped(self) -> dict[str, str]:
        """Reason of each path that is skipped."""
        return {p: row["skip_reason"] for p, row in self.rows.items() if row["skip_reason"] is not None}

    @property
    def failed(self) -> dict[str, str]:
        """Error of each path that failed."""
        return {p: row["error"] for p, row in self.rows.items() if row["error"] is not None}


def scanned(
    location: Path | str,
    data_dir: Path,
    ref: str | None = None,
    *,
    previous: Snapshot | None = None,
    allow_shrink: bool = False,
    run_id: str = "run",
    settings: dict[str, object] | None = None,
    name: str | None = None,
    refs: tuple[str, ...] = (),
    worktree: bool = False,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
) -> Scanned:
    """Scan a location into the lake of a data folder."""
    chosen = load_settings(data_dir=data_dir, **(settings or {}))
    report = scan(
        RepositorySpec(str(location), name, refs, worktree, include, exclude),
        ref,
        lake=Lake(data_dir),
        run_id=run_id,
        fingerprint="chunking",
        settings=chosen,
        previous=previous,
        allow_shrink=allow_shrink,
    )
    rows = pq.read_table(Lake(data_dir).snapshot_path(report.snapshot.snapshot_id)).to_pylist()
    by_path = {row["path"]: row for row in rows}
    assert len(by_path) == len(rows), "a path has two rows"
    return Scanned(report, by_path)
