"""The embed stage: a vector for every text that has none yet, shard by shard."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from repolake.cores import usable_core_count
from repolake.database import LakeSession, query_lake
from repolake.embedder import load_embedder
from repolake.encoding import CALIBRATE_COUNT, ERROR_LENGTH, Encoding, ahead
from repolake.errors import DatabaseError
from repolake.lake import Lake
from repolake.model_identity import ModelIdentity
from repolake.progress import Progress
from repolake.records import EmbedReport, Failure, Header, Snapshot, Stage
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, ShardWriter, embedding_schema
from repolake.shares import shares
from repolake.tokens import whole_text_tokenizer

WINDOW_TEXTS = 8192  # sorted by length together; more would hold more memory for hardly shorter batches


class _Need(NamedTuple):
    """How many texts one snapshot needs."""

    missing_count: int
    reused_count: int
    missing_token_count: int
    long_count: int


def embed(
    snapshots: Sequence[Snapshot],
    *,
    lake: Lake,
    fingerprint: str,
    model: ModelIdentity,
    settings: Settings,
    progress: Progress,
    header: Header = Header.NAME,
) -> tuple[EmbedReport, ...]:
    """Encode every text of these snapshots' chunks that has no vector of this model, equal texts once.

    Returns one report a snapshot, in their order; a text that several need is new for the first of them.
    `fingerprint` is the chunking fingerprint, `header` how the texts name their file. A text that the model
    cannot encode becomes a Failure of each file that holds it; it is tried again by the next run. A crash
    loses at most the texts since the last shard: 2 % of the work so far, never more than 15 seconds of it. A
    rerun embeds exactly what is missing.

    Raises ModelError when the model cannot be loaded or fails on everything, LakeWriteError when the lake
    cannot be written; what was embedded until then is kept.
    """
    started = time.perf_counter()
    snapshot_shards = _names(lake.snapshot_path(snapshot.snapshot_id) for snapshot in snapshots)
    chunk_shards = _names(lake.shards(lake.chunks_dir(fingerprint), CHUNK_SCHEMA))
    if not snapshot_shards or not chunk_shards:
        return tuple(EmbedReport(0, 0, 0, time.perf_counter() - started) for _ in snapshots)
    schema = embedding_schema(model.dimension, model.fingerprint)
    folder = lake.embeddings_dir(model.model_id)
    with query_lake(lake.data_dir / "scratch", threads=usable_core_count(), header=header) as session:
        notes = _read_embedded_hashes(session, lake, folder, schema)
        session.rows(
            "queries/create_needed_texts", snapshot_shards=snapshot_shards, chunk_shards=chunk_shards
        )
        session.rows("queries/create_wanted_texts")
        needs = _needs(session, model, len(snapshots))
        missing = sum(need.missing_count for need in needs)
        progress.start(Stage.EMBED, model.name, missing)
        errors: dict[str, str] = {}
        if missing:
            windows = session.stream("queries/missing_texts", WINDOW_TEXTS, chunk_shards=chunk_shards)
            encoding = Encoding(
                load_embedder(model, settings), ShardWriter(folder, schema), settings.batch_tokens, progress
            )
            tokens = sum(need.missing_token_count for need in needs)
            with encoding:
                for window in ahead(windows):
                    if missing >= CALIBRATE_COUNT and not encoding.is_calibrated:
                        notes += encoding.calibrate(window, missing, tokens)
                    encoding.encode(window)
            errors = encoding.errors
        truncated_chunks: dict[int, Counter[str]] = defaultdict(Counter)
        truncated_tokens: dict[int, Counter[str]] = defaultdict(Counter)
        if any(need.long_count for need in needs):
            _count_truncation(session, model, chunk_shards, truncated_chunks, truncated_tokens)
        failures = _failures(session, errors, snapshots, snapshot_shards, chunk_shards)
        got = _without_failed(session, needs, errors)
        progress.finish(Stage.EMBED)
    seconds = shares(time.perf_counter() - started, [need.missing_token_count for need in needs])
    return tuple(
        EmbedReport(
            embeddings_new=need.missing_count,
            embeddings_reused=need.reused_count,
            token_count=need.missing_token_count,
            seconds=seconds[position],
            truncated_chunk_count=dict(truncated_chunks[position]),
            truncated_token_count=dict(truncated_tokens[position]),
            failures=failures.get(snapshot.snapshot_id, ()),
            notes=tuple(notes),
        )
        for position, (snapshot, need) in enumerate(zip(snapshots, got, strict=True))
    )


def _read_embedded_hashes(session: LakeSession, lake: Lake, folder: Path, schema: pa.Schema) -> list[str]:
    """Tell the session which texts have a vector; return a note on shards that were set aside as broken."""
    before = set(folder.glob("*.parquet"))
    session.rows("queries/create_embedded_hashes")
    shards = lake.shards(folder, schema)
    try:
        _insert_embedded_hashes(session, shards)
    except DatabaseError:
        shards = lake.shards(folder, schema, is_thorough=True)
        _insert_embedded_hashes(session, shards)
    broken = sorted(path.name for path in before.difference(shards))
    if not broken:
        return []
    return [f"broken shards of vectors were set aside, their texts are embedded again: {', '.join(broken)}"]


def _insert_embedded_hashes(session: LakeSession, shards: list[Path]) -> None:
    if shards:
        session.rows("queries/insert_embedded_hashes", embedding_shards=_names(shards))


def _needs(session: LakeSession, model: ModelIdentity, snapshot_count: int) -> list[_Need]:
    found = {
        position: _Need(*counts)
        for position, *counts in session.rows("queries/count_wanted_texts", token_limit=_token_limit(model))
    }
    return [found.get(position, _Need(0, 0, 0, 0)) for position in range(1, snapshot_count + 1)]


def _count_truncation(
    session: LakeSession,
    model: ModelIdentity,
    chunk_shards: list[str],
    chunks: dict[int, Counter[str]],
    tokens: dict[int, Counter[str]],
) -> None:
    """Count by snapshot and language the texts that the model cuts off, and the tokens it does not read."""
    limit = _token_limit(model)
    counter = whole_text_tokenizer(model.tokenizer_file)
    for batch in session.stream(
        "queries/long_texts", WINDOW_TEXTS, chunk_shards=chunk_shards, token_limit=limit
    ):
        columns = (batch[name].to_pylist() for name in ("position", "language", "text"))
        for position, language, text in zip(*columns, strict=True):
            excess = len(counter.encode(text).ids) - (limit or 0)
            if excess > 0:
                chunks[position - 1][str(language)] += 1
                tokens[position - 1][str(language)] += excess


def _without_failed(session: LakeSession, needs: list[_Need], errors: dict[str, str]) -> list[_Need]:
    """Return what each snapshot needed and got: texts without a vector are neither new nor reused."""
    if not errors:
        return needs
    rows = session.rows("queries/failed_counts", text_hashes=list(errors))
    failed = {position - 1: (first, later) for position, first, later in rows}
    return [
        need._replace(missing_count=need.missing_count - first, reused_count=need.reused_count - later)
        for need, (first, later) in (
            (need, failed.get(position, (0, 0))) for position, need in enumerate(needs)
        )
    ]


def _token_limit(model: ModelIdentity) -> int | None:
    """Return how many tokens of a text, special tokens included, the model reads beside its prompt."""
    return None if model.max_tokens is None else model.max_tokens - model.document_prompt_token_count


def _names(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths]


def _failures(
    session: LakeSession,
    errors: dict[str, str],
    snapshots: Sequence[Snapshot],
    snapshot_shards: list[str],
    chunk_shards: list[str],
) -> dict[str, tuple[Failure, ...]]:
    """Return by snapshot id one Failure for each file that holds a text without a vector."""
    if not errors:
        return {}
    repositories = {snapshot.snapshot_id: snapshot.repository for snapshot in snapshots}
    rows = session.rows(
        "queries/text_files",
        snapshot_shards=snapshot_shards,
        chunk_shards=chunk_shards,
        text_hashes=list(errors),
    )
    found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for snapshot_id, path, blob, text_hash in rows:
        found[snapshot_id, path, blob].add(text_hash)
    failures: dict[str, list[Failure]] = defaultdict(list)
    for (snapshot_id, path, blob), hashes in sorted(found.items()):
        failure = Failure(repositories[snapshot_id], path, Stage.EMBED, _reason(errors, hashes), blob)
        failures[snapshot_id].append(failure)
    return {snapshot_id: tuple(of_snapshot) for snapshot_id, of_snapshot in failures.items()}


def _reason(errors: dict[str, str], hashes: set[str]) -> str:
    reasons = sorted({errors[text_hash] for text_hash in hashes})
    chunks = "one chunk has" if len(hashes) == 1 else f"{len(hashes)} chunks have"
    return f"{chunks} no vector: {'; '.join(reasons)[:ERROR_LENGTH]}"
