"""The rows of one snapshot, and what they add up to in the shard's metadata."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from repolake.decisions import Decision, purged_decision
from repolake.git_history import LastCommit
from repolake.inspection import Inspected
from repolake.records import Failure, Kind, Stage
from repolake.shards import SNAPSHOT_SCHEMA, is_sound_shard, read_shard
from repolake.skip_rules import SkipReason

_BATCH_ROWS = 8192
_BASIS = "repolake.basis"
_SUMMARY = "repolake.summary"


@dataclass(frozen=True, slots=True)
class SnapshotSummary:
    """What a snapshot's rows add up to; skipped paths by `reason: rule`, most first."""

    files_indexed: int
    bytes_indexed: int
    failure_count: int
    root_commit: str | None
    skipped_by_rule: dict[str, int]


def read_summary(shard: Path) -> SnapshotSummary | None:
    """Return the summary in a shard's footer, or None when there is no sound shard."""
    if not is_sound_shard(shard, SNAPSHOT_SCHEMA):
        return None
    text = (pq.read_schema(shard).metadata or {}).get(_SUMMARY.encode())
    return None if text is None else SnapshotSummary(**json.loads(text))


@dataclass
class SnapshotRows:
    """Collects the rows of a snapshot; they turn into compact Arrow batches every few thousand.

    `contents` has path and blob (else rule or error) of each row, `failures` those that could not be read.
    """

    repository: str
    last_commits: Mapping[str, LastCommit]
    has_author_names: bool = True
    contents: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    _files_indexed: int = 0
    _bytes_indexed: int = 0
    _skipped: Counter[str] = field(default_factory=Counter)
    _pending: list[dict[str, Any]] = field(default_factory=list)
    _batches: list[pa.RecordBatch] = field(default_factory=list)

    def add(self, inspected: Inspected) -> None:
        """Add one path with its decision."""
        entry, decision = inspected.entry, inspected.decision
        if decision.error is not None:
            self.failures.append(Failure(self.repository, entry.path, Stage.SCAN, decision.error, entry.blob))
        elif decision.skip_reason is not None:
            self._skipped[f"{decision.skip_reason}: {decision.skip_rule}"] += 1
        else:
            self._files_indexed += 1
            self._bytes_indexed += entry.size_bytes or 0
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
                "last_author": last.author if last and self.has_author_names else None,
            }
        )
        if len(self._pending) >= _BATCH_ROWS:
            self._flush()

    def summary(self, root_commit: str | None) -> SnapshotSummary:
        """Return what the rows add up to."""
        return SnapshotSummary(
            self._files_indexed,
            self._bytes_indexed,
            len(self.failures),
            root_commit,
            dict(self._skipped.most_common()),
        )

    def table(self, basis: str, summary: SnapshotSummary) -> pa.Table:
        """Return the rows with schema SNAPSHOT_SCHEMA; basis and summary are its metadata."""
        self._flush()
        metadata = {_BASIS: basis, _SUMMARY: json.dumps(asdict(summary))}
        return pa.Table.from_batches(self._batches, SNAPSHOT_SCHEMA.with_metadata(metadata))

    def _flush(self) -> None:
        if self._pending:
            self._batches.append(pa.RecordBatch.from_pylist(self._pending, SNAPSHOT_SCHEMA))
            self._pending = []


def without_blobs(table: pa.Table, blobs: frozenset[str]) -> pa.Table | None:
    """Return the rows as a scan gives them that skips these blobs, or None when no indexed row has one."""
    rows = table.to_pylist()
    found = [
        row for row in rows if row["blob"] in blobs and row["skip_reason"] is None and row["error"] is None
    ]
    if not found:
        return None
    decision = purged_decision()
    emptied = dict.fromkeys(("line_count", "language", "kind", "encoding"))
    metadata = dict(table.schema.metadata or {})
    summary = SnapshotSummary(**json.loads(metadata[_SUMMARY.encode()]))
    for row in found:
        row.update(emptied, skip_reason=decision.skip_reason, skip_rule=decision.skip_rule)
    skipped = Counter(summary.skipped_by_rule)
    skipped[f"{decision.skip_reason}: {decision.skip_rule}"] += len(found)
    summary = replace(
        summary,
        files_indexed=summary.files_indexed - len(found),
        bytes_indexed=summary.bytes_indexed - sum(row["size_bytes"] or 0 for row in found),
        skipped_by_rule=dict(skipped.most_common()),
    )
    metadata[_SUMMARY.encode()] = json.dumps(asdict(summary)).encode()
    return pa.Table.from_pylist(rows, SNAPSHOT_SCHEMA.with_metadata(metadata))


def previous_rows(shard: Path | None, basis: str) -> tuple[dict[tuple[str, str], Decision], list[str]]:
    """Return the decisions that still hold, and the paths of files that the last snapshot had."""
    if shard is None or not is_sound_shard(shard, SNAPSHOT_SCHEMA):
        return {}, []
    table = read_shard(shard)
    metadata = table.schema.metadata or {}
    rows = table.to_pylist()
    paths = [row["path"] for row in rows if row["skip_reason"] != SkipReason.IGNORED]
    if metadata.get(_BASIS.encode()) != basis.encode():
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
