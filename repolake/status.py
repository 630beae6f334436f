"""What a data folder holds and how fresh it is, read from the lake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from repolake import database, database_files
from repolake.errors import IndexMissingError, LakeReadError
from repolake.lake import Lake
from repolake.manifest import Manifest
from repolake.records import Failure, Stage

SHOWN_RUNS = 5


@dataclass(frozen=True, slots=True)
class RefStatus:
    """One ref of a repository as published."""

    ref: str
    commit: str
    committed_at: datetime | None
    files_indexed: int
    files_skipped: int
    files_failed: int
    chunks: int


@dataclass(frozen=True, slots=True)
class RepositoryStatus:
    """One repository; `hours` is the time since it was last read with success."""

    repository: str
    location: str
    default_ref: str
    indexed_at: datetime
    hours: float
    refs: tuple[RefStatus, ...]


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run; a run that died before its end stays `running` although nothing runs.

    `stage_seconds` sums over its repositories, which may have run side by side. `database_bytes` is 0 for
    a run that published nothing new; `embeddings_per_second` null without any.
    """

    run_id: str
    started_at: datetime
    finished_at: datetime | None
    state: str
    seconds: float | None
    stage_seconds: dict[str, float]
    bytes_chunked: int
    chunks_new: int
    embeddings_new: int
    embeddings_per_second: float | None
    truncated_chunks: int
    database_bytes: int
    failures: int


@dataclass(frozen=True, slots=True)
class Status:
    """The state of one data folder.

    `skips` counts the files of all refs by skip rule; `truncated_chunks` those of the shown runs whose
    text was longer than the model reads. `failures` are what the next run tries again. `runs` are the newest
    first; `purged_blobs` the contents that scans leave out for good.
    """

    data_dir: str
    database: str | None
    database_bytes: int
    lake_bytes: int
    model: str
    model_id: str
    dimension: int
    chunker: str
    repositories: tuple[RepositoryStatus, ...]
    skips: dict[str, int]
    truncated_chunks: int
    failures: tuple[Failure, ...]
    runs: tuple[RunStatus, ...]
    purged_blobs: tuple[str, ...]

    def stale(self, hours: float) -> tuple[str, ...]:
        """Return the repositories that were last indexed more than `hours` ago."""
        return tuple(entry.repository for entry in self.repositories if entry.hours > hours)


def read_status(
    data_dir: Path,
    now: datetime | None = None,
    *,
    run_count: int = SHOWN_RUNS,
) -> Status:
    """Read the state of a data folder, with its last `run_count` runs.

    Raises IndexMissingError when nothing was ever indexed there, LakeFormatError for a newer lake,
    LakeReadError for one that is damaged.
    """
    lake = Lake(data_dir)
    manifests = lake.manifests()
    if not manifests:
        raise IndexMissingError(str(data_dir))
    try:
        return _status(lake, manifests, now or datetime.now(UTC), run_count)
    except LakeReadError:  # a run and gc may have come in between: then the newest manifest is another
        again = lake.manifests()
        if again[-1:] == manifests[-1:]:
            raise
        return _status(lake, again, now or datetime.now(UTC), run_count)


def _status(lake: Lake, manifests: Sequence[Manifest], now: datetime, run_count: int) -> Status:
    data_dir = lake.data_dir
    latest = manifests[-1]
    published = database_files.published_path(data_dir)
    decisions = {s.snapshot_id: lake.decisions(s.snapshot_id) for s in latest.snapshots if s.is_current}
    chunk_counts = database.chunk_counts(published) if published is not None else {}
    repositories = []
    for repository in latest.repositories:
        refs = tuple(
            RefStatus(
                ref=s.ref,
                commit=s.commit,
                committed_at=s.committed_at,
                files_indexed=decisions[s.snapshot_id].indexed,
                files_skipped=sum(decisions[s.snapshot_id].skipped.values()),
                files_failed=decisions[s.snapshot_id].failed,
                chunks=chunk_counts.get(s.snapshot_id, 0),
            )
            for s in latest.snapshots
            if s.is_current and s.repository == repository.repository
        )
        age = now - repository.indexed_at
        repositories.append(
            RepositoryStatus(
                repository=repository.repository,
                location=repository.location,
                default_ref=repository.default_ref,
                indexed_at=repository.indexed_at,
                hours=round(age / timedelta(hours=1), 2),
                refs=refs,
            )
        )
    skips: Counter[str] = Counter()
    for decision in decisions.values():
        skips.update(decision.skipped)
    shown = manifests[: -run_count - 1 : -1]
    return Status(
        data_dir=str(data_dir),
        database=str(published) if published is not None else None,
        database_bytes=published.stat().st_size if published is not None else 0,
        lake_bytes=sum(latest.shards.values()),
        model=latest.model["name"],
        model_id=latest.model["model_id"],
        dimension=latest.model["dimension"],
        chunker=latest.config["chunker"],
        repositories=tuple(repositories),
        skips=dict(skips.most_common()),
        truncated_chunks=int(_total(shown, Stage.EMBED, "truncated_chunk_count")),
        failures=latest.failures,
        runs=tuple(_run_status(manifest) for manifest in shown),
        purged_blobs=tuple(sorted(lake.purged_blobs())),
    )


def tokens_per_second(data_dir: Path, model_id: str) -> float | None:
    """Return how fast a model embedded in the newest run of this data folder that used it, if any did."""
    for manifest in reversed(Lake(data_dir).manifests()):
        if manifest.model["model_id"] != model_id:
            continue
        stages = [entry for entry in manifest.stages if entry.stage is Stage.EMBED]
        seconds = sum(entry.seconds for entry in stages)
        tokens = sum(entry.counts.get("token_count", 0) for entry in stages)
        if tokens and seconds:
            return tokens / seconds
    return None


def _run_status(manifest: Manifest) -> RunStatus:
    end = manifest.finished_at
    embeddings_new = int(_total([manifest], Stage.EMBED, "embeddings_new"))
    seconds = sum(count.seconds for count in manifest.stages if count.stage is Stage.EMBED)
    return RunStatus(
        run_id=manifest.run_id,
        started_at=manifest.started_at,
        finished_at=end,
        state=manifest.state,
        seconds=round((end - manifest.started_at).total_seconds(), 1) if end is not None else None,
        stage_seconds={
            stage.value: round(sum(entry.seconds for entry in manifest.stages if entry.stage is stage), 3)
            for stage in Stage
        },
        bytes_chunked=int(_total([manifest], Stage.CHUNK, "bytes_chunked")),
        chunks_new=int(_total([manifest], Stage.CHUNK, "chunks_new")),
        embeddings_new=embeddings_new,
        embeddings_per_second=round(embeddings_new / seconds, 1) if embeddings_new and seconds else None,
        truncated_chunks=int(_total([manifest], Stage.EMBED, "truncated_chunk_count")),
        database_bytes=int(_total([manifest], Stage.LOAD, "size_bytes")),
        failures=len(manifest.failures),
    )


def _total(manifests: Sequence[Manifest], stage: Stage, name: str) -> float:
    return sum(
        count.counts.get(name, 0)
        for manifest in manifests
        for count in manifest.stages
        if count.stage is stage
    )
