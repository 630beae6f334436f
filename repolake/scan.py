"""The stage scan: lists a snapshot's paths and gives each exactly one decision, in one shard of the lake."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from repolake.checkout import Checkout, content_hash, open_checkout
from repolake.decisions import Decision
from repolake.errors import ShrinkError
from repolake.git_history import LastCommit
from repolake.inspection import Inspected, inspect, rules_fingerprint
from repolake.lake import SNAPSHOT_SCHEMA, Lake, is_sound_shard
from repolake.path_names import path_bytes
from repolake.progress import Progress, SilentProgress
from repolake.records import Failure, Kind, RepositorySpec, ScanReport, Snapshot, Stage
from repolake.settings import Settings
from repolake.skip_rules import SkipReason

SHRINK_LEAST_FILES = 100  # a smaller folder may lose what it likes
_BATCH_ROWS = 8192
_BASIS = b"repolake.basis"
_ROOT_COMMIT = b"repolake.root_commit"


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
    known, paths_before = _previous_rows(task.lake, task.previous, inspection.basis)
    if task.checkout.commit is None and not task.allow_shrink:
        existing = {entry.path for entry in inspection.entries if entry.skip_reason is not SkipReason.IGNORED}
        _check_shrink(task.checkout, paths_before, existing)
    checkout = task.checkout.with_root_commit()
    regular = {entry.path for entry in inspection.entries if entry.skip_reason is None}
    progress.start(Stage.SCAN, checkout.repository.repository, len(inspection.entries))
    rows = _Rows(checkout.last_commits(regular, task.settings.history_commit_limit))
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
    metadata = {_BASIS: inspection.basis.encode()}
    if checkout.repository.root_commit:
        metadata[_ROOT_COMMIT] = checkout.repository.root_commit.encode()
    table = rows.table().replace_schema_metadata(metadata)
    task.lake.write_snapshot(snapshot.snapshot_id, table)
    return _report(checkout, snapshot, table, started, is_unchanged=False)


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


@dataclass
class _Rows:
    """Collects rows; they turn into compact Arrow batches every few thousand."""

    last_commits: Mapping[str, LastCommit]
    contents: list[tuple[str, str]] = field(default_factory=list)
    _pending: list[dict[str, Any]] = field(default_factory=list)
    _batches: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, inspected: Inspected) -> None:
        entry, decision = inspected.entry, inspected.decision
        last = self.last_commits.get(entry.path)
        self.contents.append((entry.path, entry.blob or decision.skip_rule or decision.error or ""))
        self._pending.append(
            {
                "path": entry.path,
                "blob": entry.blob,
                "size_bytes": entry.size_bytes,
                "line_count": decision.line_count,
                "language": decision.language,
                "kind": decision.kind,
                "encoding": decision.encoding,
                "skip_reason": decision.skip_reason,
                "skip_rule": decision.skip_rule,
                "error": decision.error,
                "last_commit_at": last.committed_at if last else None,
                "last_author": last.author if last else None,
            }
        )
        if len(self._pending) >= _BATCH_ROWS:
            self._flush()

    def table(self) -> pa.Table:
        self._flush()
        return pa.Table.from_batches(self._batches, SNAPSHOT_SCHEMA)

    def _flush(self) -> None:
        if self._pending:
            self._batches.append(pa.RecordBatch.from_pylist(self._pending, SNAPSHOT_SCHEMA))
            self._pending = []


def _previous_rows(
    lake: Lake, previous: Snapshot | None, basis: str
) -> tuple[dict[tuple[str, str], Decision], list[str]]:
    """Return the decisions that still hold, and the paths of files that the last snapshot had."""
    shard = lake.snapshot_path(previous.snapshot_id) if previous is not None else None
    if shard is None or not is_sound_shard(shard, SNAPSHOT_SCHEMA):
        return {}, []
    table = pq.read_table(shard)
    metadata = table.schema.metadata or {}
    rows = table.to_pylist()
    paths = [row["path"] for row in rows if row["skip_reason"] != SkipReason.IGNORED]
    if metadata.get(_BASIS) != basis.encode():
        return {}, paths
    known = {
        (row["path"], row["blob"]): Decision(
            skip_reason=SkipReason(row["skip_reason"]) if row["skip_reason"] else None,
            skip_rule=row["skip_rule"],
            language=row["language"],
            kind=Kind(row["kind"]) if row["kind"] else None,
            encoding=row["encoding"],
            line_count=row["line_count"],
        )
        for row in rows
        if row["blob"] is not None and row["error"] is None
    }
    return known, paths


def _check_shrink(checkout: Checkout, before: list[str], existing: set[str]) -> None:
    """Raise ShrinkError when more than half of the files of the last snapshot are gone from the disk."""
    if len(before) < SHRINK_LEAST_FILES or 2 * len(existing) >= len(before):
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
    """Return the report of a snapshot that the lake holds whole, or None."""
    shard = lake.snapshot_path(snapshot.snapshot_id)
    if not is_sound_shard(shard, SNAPSHOT_SCHEMA):
        return None
    table = pq.read_table(shard, columns=["path", "blob", "size_bytes", "skip_reason", "skip_rule", "error"])
    if table["error"].null_count != table.num_rows:
        return None
    root = (table.schema.metadata or {}).get(_ROOT_COMMIT)
    repository = replace(checkout.repository, root_commit=root.decode() if root else None)
    if previous is not None and previous.snapshot_id == snapshot.snapshot_id:
        snapshot = previous
    return _report(replace(checkout, repository=repository), snapshot, table, started, is_unchanged=True)


def _report(
    checkout: Checkout, snapshot: Snapshot, table: pa.Table, started: float, *, is_unchanged: bool
) -> ScanReport:
    by_rule: Counter[str] = Counter()
    failures = []
    files_indexed = bytes_indexed = 0
    columns: Iterable[tuple[Any, ...]] = zip(
        *(
            table[name].to_pylist()
            for name in ("path", "blob", "size_bytes", "skip_reason", "skip_rule", "error")
        ),
        strict=True,
    )
    for path, blob, size, reason, rule, error in columns:
        if error is not None:
            failures.append(Failure(snapshot.repository, path, Stage.SCAN, error, blob))
        elif reason is not None:
            by_rule[f"{reason}: {rule}"] += 1
        else:
            files_indexed += 1
            bytes_indexed += size or 0
    return ScanReport(
        repository=checkout.repository,
        snapshot=snapshot,
        source=checkout.source,
        files_indexed=files_indexed,
        files_skipped=by_rule.total(),
        bytes_indexed=bytes_indexed,
        seconds=time.monotonic() - started,
        is_unchanged=is_unchanged,
        failures=tuple(failures),
        notes=checkout.notes,
        skipped_by_rule=dict(by_rule.most_common()),
    )
