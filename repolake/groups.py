"""The stages over a group of repositories: what one task of a run does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from repolake.checkout import missing_refs
from repolake.chunk import chunk, chunking_fingerprint
from repolake.damage import set_aside_damaged
from repolake.embed import embed
from repolake.errors import LakeReadError, ModelError, ShrinkError, SourceError, UsageError
from repolake.lake import Lake
from repolake.load import load
from repolake.manifest import Manifest
from repolake.model_identity import ModelIdentity
from repolake.progress import Progress
from repolake.records import (
    Chunker,
    ChunkReport,
    EmbedReport,
    Header,
    LoadReport,
    RepositoryFailure,
    RepositorySpec,
    ScanReport,
    Snapshot,
    Stage,
)
from repolake.scan import scan
from repolake.scopes import FOLDERS_RESERVE
from repolake.settings import Settings
from repolake.tokens import TokenCounter

MAX_GROUPS = 24  # so that a run of a thousand repositories has tens of task runs

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Chunking:
    """How chunks are cut: everything that the chunking fingerprint stands for."""

    fingerprint: str
    tokenizer_file: Path
    budget: int
    chunker: Chunker
    header: Header


@dataclass(frozen=True, slots=True)
class Context:
    """What every stage of one run works with."""

    lake: Lake
    run_id: str
    settings: Settings
    chunking: Chunking
    model: ModelIdentity
    allow_shrink: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """One repository to scan, with the current snapshot of each ref that the lake knows.

    The ref None is the default one. Of `other_refs`, which are known but not asked for, only whether they are
    still there is looked up.
    """

    spec: RepositorySpec
    refs: tuple[str | None, ...]
    other_refs: tuple[str, ...]
    previous: dict[str | None, Snapshot]


def choose_chunking(
    model: ModelIdentity, settings: Settings, chunker: Chunker, header: Header = Header.NAME
) -> Chunking:
    """Return how chunks are cut for a model; a header with folders leaves less of the budget to the code.

    Raises ModelError when its tokenizer cannot be read.
    """
    try:
        tokenizer = TokenCounter.load(model.tokenizer_file)
    except (OSError, ValueError) as error:
        raise ModelError(model.name, f"its tokenizer cannot be read ({error})") from error
    budget = model.token_budget(settings.chunk_tokens)
    if header is Header.FOLDERS:
        budget -= FOLDERS_RESERVE
    fingerprint = chunking_fingerprint(budget, tokenizer.fingerprint, chunker)
    return Chunking(fingerprint, model.tokenizer_file, budget, chunker, header)


def groups_of(items: Sequence[T]) -> list[tuple[T, ...]]:
    """Return the items in at most MAX_GROUPS groups, in order."""
    size = max(1, -(-len(items) // MAX_GROUPS))
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]


def scan_group(
    requests: tuple[ScanRequest, ...], context: Context
) -> tuple[tuple[ScanRequest, ScanReport | RepositoryFailure], ...]:
    """Scan each ref of each repository; a bad one becomes a failure and the rest go on.

    A group of one repository raises a transient error instead, so that an executor can retry it.
    """
    outcomes: list[tuple[ScanRequest, ScanReport | RepositoryFailure]] = []
    for request in requests:
        read = set()
        for ref in request.refs:
            try:
                report = scan(
                    request.spec,
                    ref,
                    lake=context.lake,
                    run_id=context.run_id,
                    fingerprint=context.chunking.fingerprint,
                    settings=context.settings,
                    previous=request.previous.get(ref),
                    allow_shrink=context.allow_shrink,
                    progress=context.progress,
                )
            except (SourceError, UsageError, ShrinkError) as error:
                if error.is_transient and len(requests) == 1:
                    raise
                outcomes.append((request, RepositoryFailure(request.spec, ref, Stage.SCAN, error)))
            else:
                outcomes.append((request, report))
                read.add(report.snapshot.ref)
        unread = [ref for ref in request.other_refs if ref not in (*request.refs, *read)]
        if unread and read:
            outcomes.extend((request, gone) for gone in _gone_refs(request.spec, unread, context))
    return tuple(outcomes)


def _gone_refs(spec: RepositorySpec, refs: Sequence[str], context: Context) -> Iterator[RepositoryFailure]:
    """Yield a failure for each of these refs that the repository no longer has."""
    try:
        for ref, error in missing_refs(spec, refs, context.lake):
            yield RepositoryFailure(spec, ref, Stage.SCAN, error)
    except (SourceError, UsageError):
        return  # it vanished after its scan: the next run says so


def chunk_group(
    scans: tuple[tuple[RepositorySpec, ScanReport], ...], context: Context
) -> tuple[ChunkReport | RepositoryFailure, ...]:
    """Chunk the snapshots, all at once: the lake is read once, and files share worker processes.

    A repository that vanished meanwhile becomes a failure.
    """
    outcomes = chunk(
        [(report.snapshot, report.source) for _, report in scans],
        lake=context.lake,
        fingerprint=context.chunking.fingerprint,
        tokenizer_file=context.chunking.tokenizer_file,
        budget=context.chunking.budget,
        chunker=context.chunking.chunker,
        settings=context.settings,
        progress=context.progress,
    )
    return tuple(
        RepositoryFailure(spec, report.snapshot.ref, Stage.CHUNK, outcome)
        if isinstance(outcome, SourceError)
        else outcome
        for (spec, report), outcome in zip(scans, outcomes, strict=True)
    )


def embed_group(snapshots: tuple[Snapshot, ...], context: Context) -> tuple[EmbedReport, ...]:
    """Embed what the snapshots miss, all at once: the lake is read once, and texts share batches."""
    return embed(
        snapshots,
        lake=context.lake,
        fingerprint=context.chunking.fingerprint,
        header=context.chunking.header,
        model=context.model,
        settings=context.settings,
        progress=context.progress,
    )


def load_all(manifest: Manifest, context: Context) -> LoadReport:
    """Verify the shards, then build and publish the database of everything that the manifest names.

    Raises LakeReadError when a shard is damaged; it has been set aside.
    """
    damaged = set_aside_damaged(context.lake, manifest, is_thorough=True)
    if damaged:
        raise LakeReadError(damaged, "damaged; set aside")
    return load(manifest, lake=context.lake, settings=context.settings, progress=context.progress)
