"""What a run would index and skip, and about what it would cost; writes nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from repolake.checkout import open_checkout
from repolake.chunk_estimate import ChunkEstimate
from repolake.chunk_worker import WorkerConfig
from repolake.cores import usable_core_count
from repolake.errors import UnknownNameError, UsageError
from repolake.inspection import inspect
from repolake.lake import Lake
from repolake.locations import is_url
from repolake.progress import Progress, SilentProgress
from repolake.records import Chunker, RepositorySpec, SourceMode, Stage
from repolake.settings import Settings

_ROOT = "."


@dataclass(frozen=True, slots=True)
class PlanGroup:
    """Files of one language, kind or folder, with what they would give."""

    name: str
    files: int
    bytes: int
    chunks: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SkipGroup:
    """Paths that one rule leaves out. `bytes` counts those whose size is known."""

    skip_reason: str
    skip_rule: str
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PathPlan:
    """The decision about one path: `indexed`, `skipped` or `failed`, and the rule or the error."""

    path: str
    decision: str
    size_bytes: int | None
    language: str | None
    kind: str | None
    skip_reason: str | None
    skip_rule: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a run would do with one ref. Tokens, chunks and seconds are estimates; groups are largest first.

    `embedding_seconds` is null without a rate; it takes every text as new.
    """

    repository: str
    ref: str
    mode: SourceMode
    commit: str | None
    files_indexed: int
    files_skipped: int
    files_failed: int
    bytes_indexed: int
    chunks: int
    tokens: int
    embedding_seconds: float | None
    by_language: tuple[PlanGroup, ...]
    by_kind: tuple[PlanGroup, ...]
    by_folder: tuple[PlanGroup, ...]
    by_rule: tuple[SkipGroup, ...]
    notes: tuple[str, ...]
    paths: tuple[PathPlan, ...] = field(repr=False, default=())

    def why(self, path: str) -> PathPlan:
        """Return the decision about a path, or about the ignored folder that it lies in.

        Raises UnknownNameError when the snapshot has no such path.
        """
        wanted = path.removeprefix("./").rstrip("/")
        decisions = {known.path: known for known in self.paths}
        candidate = wanted
        while candidate:
            if candidate in decisions:
                return decisions[candidate]
            candidate = candidate.rpartition("/")[0]
        inside = [known for known in self.paths if known.path.startswith(wanted + "/")]
        where = f"{self.repository} at {self.ref}"
        if inside:
            counts = Counter(known.decision for known in inside)
            summary = ", ".join(f"{count} {decision}" for decision, count in counts.most_common())
            raise UnknownNameError(f"{path} is a folder of {where} ({summary})", "name one of its files")
        raise UnknownNameError(f"{where} has no path {path}", "give it relative to the repository's root")


@dataclass
class _Sum:
    files: int = 0
    bytes: int = 0
    chunks: float = 0.0
    tokens: float = 0.0

    def add(self, size: int, chunks: float = 0.0, tokens: float = 0.0) -> None:
        self.files += 1
        self.bytes += size
        self.chunks += chunks
        self.tokens += tokens


def plan(
    spec: RepositorySpec,
    ref: str | None,
    settings: Settings,
    *,
    tokenizer_file: Path,
    budget: int,
    tokens_per_second: float | None = None,
    progress: Progress | None = None,
) -> PlanReport:
    """Decide every path of one ref as a scan would, and estimate what chunking and embedding would give.

    A sample of the files is cut to estimate. `budget` is the most tokens of a chunk by the model's tokenizer,
    `tokens_per_second` the rate at which the model embeds.

    Raises UsageError for a URL (its mirror would have to be written), RepositoryNotFoundError, SourceError.
    """
    if is_url(spec.location):
        raise UsageError("plan reads repositories and folders on this machine", "clone the repository first")
    lake = Lake(settings.data_dir)
    checkout = open_checkout(spec, ref, lake=lake, settings=settings, run_id="plan", previous=None)
    inspection = inspect(checkout, spec, settings)
    progress = progress or SilentProgress()
    progress.start(Stage.SCAN, checkout.repository.repository, len(inspection.entries))
    languages: dict[str, _Sum] = defaultdict(_Sum)
    kinds: dict[str, _Sum] = defaultdict(_Sum)
    folders: dict[str, _Sum] = defaultdict(_Sum)
    rules: dict[tuple[str, str], _Sum] = defaultdict(_Sum)
    total = _Sum()
    paths = []
    estimate = ChunkEstimate(sum(entry.skip_reason is None for entry in inspection.entries))
    active = progress
    for inspected in inspection.files({}, lambda count: active.advance(Stage.SCAN, count)):
        entry, decision = inspected.entry, inspected.decision
        size = entry.size_bytes or 0
        what = "failed" if decision.error else "skipped" if decision.skip_reason else "indexed"
        paths.append(
            PathPlan(
                entry.path, what, entry.size_bytes, decision.language, decision.kind,
                decision.skip_reason, decision.skip_rule, decision.error,
            )
        )  # fmt: skip
        if decision.skip_reason is not None:
            rules[decision.skip_reason, decision.skip_rule or ""].add(size)
        elif decision.error is None and entry.blob is not None and inspected.data is not None:
            estimate.offer(entry.path, entry.blob, decision.language or "", inspected.data)
    progress.finish(Stage.SCAN)
    config = WorkerConfig(
        str(tokenizer_file),
        budget,
        Chunker.AST,
        settings.chunk_timeout_seconds,
        settings.chunk_memory_bytes,
    )
    estimate.cut(config, settings.workers or usable_core_count())
    for known in paths:
        if known.decision == "indexed":
            language, size = known.language or "", known.size_bytes or 0
            chunks, tokens = estimate.of(size, language)
            for group in (total, languages[language], kinds[str(known.kind)], folders[_folder(known.path)]):
                group.add(size, chunks, tokens)
    counts = Counter(known.decision for known in paths)
    return PlanReport(
        repository=checkout.repository.repository,
        ref=checkout.ref,
        mode=checkout.mode,
        commit=checkout.commit.commit if checkout.commit else None,
        files_indexed=total.files,
        files_skipped=counts["skipped"],
        files_failed=counts["failed"],
        bytes_indexed=total.bytes,
        chunks=round(total.chunks),
        tokens=round(total.tokens),
        embedding_seconds=total.tokens / tokens_per_second if tokens_per_second else None,
        by_language=_groups(languages),
        by_kind=_groups(kinds),
        by_folder=_groups(folders),
        by_rule=tuple(
            SkipGroup(reason, rule, found.files, found.bytes)
            for (reason, rule), found in sorted(rules.items(), key=lambda item: (-item[1].files, item[0]))
        ),
        notes=checkout.notes,
        paths=tuple(paths),
    )


def _groups(sums: dict[str, _Sum]) -> tuple[PlanGroup, ...]:
    ordered: Iterable[tuple[str, _Sum]] = sorted(sums.items(), key=lambda item: (-item[1].bytes, item[0]))
    return tuple(
        PlanGroup(name, found.files, found.bytes, round(found.chunks), round(found.tokens))
        for name, found in ordered
    )


def _folder(path: str) -> str:
    """Return the folder that a file is counted under: at most two levels deep."""
    parts = path.split("/")[:-1][:2]
    return "/".join(parts) or _ROOT
