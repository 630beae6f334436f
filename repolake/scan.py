"""The stage scan: lists a snapshot's paths and gives each exactly one decision, in one shard of the lake."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from repolake.checkout import Checkout, content_hash, open_checkout
from repolake.errors import ShrinkError
from repolake.inspection import inspect, rules_fingerprint
from repolake.lake import Lake
from repolake.path_names import path_bytes
from repolake.progress import Progress, SilentProgress
from repolake.records import Failure, RepositorySpec, ScanReport, Snapshot, Stage
from repolake.settings import Settings
from repolake.skip_rules import SkipReason
from repolake.snapshot_rows import SnapshotRows, SnapshotSummary, previous_rows, read_summary

SHRINK_LEAST_FILES = 100  # a smaller folder may lose what it likes


def scan(
    spec: RepositorySpec,
    ref: str | None,
    *,
    lake: Lake,
    run_id: str,
    fingerprint: str,
    settings: Settings,
    previous: Snapshot | None,
    allow_shrink: bool = False,
    progress: Progress | None = None,
) -> ScanReport:
    """Decide every path of one ref (None: HEAD, or the files on disk) and store the rows as a snapshot.

    `fingerprint` is the chunking fingerprint, a part of the snapshot id; `previous` is the ref's current
    snapshot: its blobs are not judged again under equal rules. A commit that the lake already holds without
    failed files is not listed again. A bad file is a failure of the report, never an exception.

    Raises UsageError, SourceError, GitError, GitTimeoutError, ShrinkError, LakeWriteError; the lake then is
    as it was.
    """
    started = time.monotonic()
    progress = progress or SilentProgress()
    checkout = open_checkout(spec, ref, lake=lake, settings=settings, run_id=run_id, previous=previous)
    rules = rules_fingerprint(spec, settings)
    if checkout.commit is not None:
        snapshot = _snapshot(checkout, checkout.commit.commit, rules, fingerprint, run_id)
        report = _stored_report(lake, checkout, snapshot, previous, started)
        if report is not None:
            return report
    return _scan_files(
        _Task(checkout, spec, lake, run_id, rules, fingerprint, settings, previous, allow_shrink),
        progress,
        started,
    )


@dataclass(frozen=True, slots=True)
class _Task:
    checkout: Checkout
    spec: RepositorySpec
    lake: Lake
    run_id: str
    rules: str
    fingerprint: str
    settings: Settings
    previous: Snapshot | None
    allow_shrink: bool


def _scan_files(task: _Task, progress: Progress, started: float) -> ScanReport:
    inspection = inspect(task.checkout, task.spec, task.settings)
    previous = task.previous
    shard = task.lake.snapshot_path(previous.snapshot_id) if previous is not None else None
    known, paths_before = previous_rows(shard, inspection.basis)
    if task.checkout.commit is None and not task.allow_shrink:
        existing = {entry.path for entry in inspection.entries if entry.skip_reason is not SkipReason.IGNORED}
        _check_shrink(task.checkout, paths_before, existing)
    checkout = task.checkout.with_root_commit()
    regular = {entry.path for entry in inspection.entries if entry.skip_reason is None}
    progress.start(Stage.SCAN, checkout.repository.repository, len(inspection.entries))
    last_commits = checkout.last_commits(regular, task.settings.history_commit_limit)
    rows = SnapshotRows(
        checkout.repository.repository, last_commits, has_author_names=task.settings.author_names
    )
    for inspected in inspection.files(known, lambda count: progress.advance(Stage.SCAN, count)):
        rows.add(inspected)
    progress.finish(Stage.SCAN)
    commit = checkout.commit.commit if checkout.commit else content_hash(rows.contents)
    snapshot = _snapshot(checkout, commit, task.rules, task.fingerprint, task.run_id)
    stored = (
        None if checkout.commit else _stored_report(task.lake, checkout, snapshot, task.previous, started)
    )
    if stored is not None:
        return stored
    summary = rows.summary(checkout.repository.root_commit)
    task.lake.write_snapshot(snapshot.snapshot_id, rows.table(inspection.basis, summary))
    return _report(checkout, snapshot, summary, started, rows.failures)


def _snapshot(checkout: Checkout, commit: str, rules: str, fingerprint: str, run_id: str) -> Snapshot:
    parts = (checkout.repository.repository, checkout.ref, commit, rules, fingerprint)
    snapshot_id = hashlib.md5("\0".join(parts).encode(), usedforsecurity=False).hexdigest()
    return Snapshot(
        snapshot_id=snapshot_id,
        repository=checkout.repository.repository,
        ref=checkout.ref,
        commit=commit,
        tree=checkout.commit.tree if checkout.commit else None,
        committed_at=checkout.commit.committed_at if checkout.commit else None,
        indexed_at=datetime.now(UTC),
        run_id=run_id,
    )


def _check_shrink(checkout: Checkout, before: list[str], existing: set[str]) -> None:
    """Raise ShrinkError when over half of the last snapshot's files are gone from the disk.

    A small folder may shrink, but not to nothing: that is what an unmounted disk looks like.
    """
    is_empty = bool(before) and not existing
    if not is_empty and (len(before) < SHRINK_LEAST_FILES or 2 * len(existing) >= len(before)):
        return
    lost = sum(
        path not in existing and not os.path.lexists(checkout.root / os.fsdecode(path_bytes(path)))
        for path in before
    )
    if 2 * lost > len(before):
        raise ShrinkError(checkout.repository.repository, len(before), len(before) - lost)


def _stored_report(
    lake: Lake, checkout: Checkout, snapshot: Snapshot, previous: Snapshot | None, started: float
) -> ScanReport | None:
    """Return the report of a snapshot that the lake holds whole, or None; reads no rows."""
    summary = read_summary(lake.snapshot_path(snapshot.snapshot_id))
    if summary is None or summary.failure_count:
        return None
    repository = replace(checkout.repository, root_commit=summary.root_commit)
    if previous is not None and previous.snapshot_id == snapshot.snapshot_id:
        snapshot = previous
    return _report(replace(checkout, repository=repository), snapshot, summary, started, None)


def _report(
    checkout: Checkout,
    snapshot: Snapshot,
    summary: SnapshotSummary,
    started: float,
    failures: list[Failure] | None,
) -> ScanReport:
    """Return the report; without a list of failures it is that of a stored snapshot."""
    return ScanReport(
        repository=checkout.repository,
        snapshot=snapshot,
        source=checkout.source,
        files_indexed=summary.files_indexed,
        files_skipped=sum(summary.skipped_by_rule.values()),
        bytes_indexed=summary.bytes_indexed,
        seconds=time.monotonic() - started,
        is_unchanged=failures is None,
        failures=tuple(failures or ()),
        notes=checkout.notes,
        skipped_by_rule=summary.skipped_by_rule,
    )
