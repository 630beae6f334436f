"""The embed stage: a vector for every text that has none yet, shard by shard."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from repolake.cores import usable_core_count
from repolake.database import LakeSession, query_lake
from repolake.embedder import Embedder, Vectors, load_embedder
from repolake.lake import CHUNK_SCHEMA, Lake, ShardWriter, embedding_schema
from repolake.model_identity import ModelIdentity
from repolake.progress import Progress
from repolake.records import EmbedReport, Failure, Snapshot, Stage
from repolake.settings import Settings

WINDOW_TEXTS = 8192  # sorted by length together; more would hold more memory for hardly shorter batches
CALIBRATE_COUNT = 256  # fewer texts take less time than choosing a precision for them
STATIC_BATCH_TOKENS = 500_000  # a static model pads nothing
LONG_RUN_SECONDS = 3600.0
SHARD_SECONDS = 15.0
ERROR_LENGTH = 300

logger = logging.getLogger(__name__)


def embed(
    snapshots: Sequence[Snapshot],
    *,
    lake: Lake,
    fingerprint: str,
    model: ModelIdentity,
    settings: Settings,
    progress: Progress,
) -> EmbedReport:
    """Encode every text of these snapshots' chunks that has no vector of this model, each different text once.

    `fingerprint` is the chunking fingerprint. A text that the model cannot encode becomes a Failure of each
    file that holds it; it is tried again by the next run. A crash loses at most the texts since the last
    shard, SHARD_SECONDS of work; a rerun embeds exactly what is missing.

    Raises ModelError when the model cannot be loaded or fails on everything, LakeWriteError when the lake
    cannot be written; what was embedded until then is kept.
    """
    started = time.perf_counter()
    snapshot_shards = _names(lake.snapshot_path(snapshot.snapshot_id) for snapshot in snapshots)
    chunk_shards = _names(lake.shards(lake.chunks_dir(fingerprint), CHUNK_SCHEMA))
    if not snapshot_shards or not chunk_shards:
        return EmbedReport(0, 0, 0, time.perf_counter() - started)
    schema = embedding_schema(model.dimension, model.fingerprint)
    folder = lake.embeddings_dir(model.model_id)
    with query_lake(lake.data_dir / "scratch", threads=usable_core_count()) as session:
        session.rows("queries/create_embedded_hashes")
        if shards := _names(lake.shards(folder, schema)):
            session.rows("queries/insert_embedded_hashes", embedding_shards=shards)
        session.rows(
            "queries/create_wanted_texts", snapshot_shards=snapshot_shards, chunk_shards=chunk_shards
        )
        [(missing, reused, tokens)] = session.rows("queries/count_wanted_texts")
        progress.start(Stage.EMBED, model.name, missing)
        errors: dict[str, str] = {}
        notes: list[str] = []
        if missing:
            windows = session.stream("queries/missing_texts", WINDOW_TEXTS, chunk_shards=chunk_shards)
            encoding = _Encoding(
                load_embedder(model, settings), ShardWriter(folder, schema), settings, progress
            )
            with encoding:
                for window in _ahead(windows):
                    if missing >= CALIBRATE_COUNT and not encoding.is_calibrated:
                        notes += encoding.calibrate(window, missing, tokens)
                    encoding.encode(window)
            errors = encoding.errors
        failures = _failures(session, errors, snapshots, snapshot_shards, chunk_shards)
        progress.finish(Stage.EMBED)
    return EmbedReport(
        embeddings_new=missing - len(errors),
        embeddings_reused=reused,
        token_count=tokens,
        seconds=time.perf_counter() - started,
        failures=failures,
        notes=tuple(notes),
    )


class _Encoding:
    """Encodes windows of texts batch by batch, while a thread of its own packs and writes the shards."""

    def __init__(
        self, embedder: Embedder, writer: ShardWriter, settings: Settings, progress: Progress
    ) -> None:
        self.errors: dict[str, str] = {}
        self.is_calibrated = embedder.identity.is_static
        self._embedder = embedder
        self._writer = writer
        self._progress = progress
        self._batch_tokens = STATIC_BATCH_TOKENS if embedder.identity.is_static else settings.batch_tokens
        self._writing = ThreadPoolExecutor(1, "repolake-write")
        self._last_write = self._writing.submit(int)
        self._flushed_at = time.perf_counter()

    def __enter__(self) -> _Encoding:
        return self

    def __exit__(self, *_: object) -> None:
        # Also after an error: what was encoded is kept.
        with self._writing:
            self._submit(self._writer.flush)
            self._last_write.result()

    def calibrate(self, window: pa.RecordBatch, missing: int, tokens: int) -> list[str]:
        """Choose the precision, estimate the run, and return a note if it will be long."""
        self.is_calibrated = True
        rate = self._embedder.calibrate(window["text"].to_pylist(), window["token_count"].to_pylist())
        seconds = tokens / rate if rate else 0.0
        if seconds < LONG_RUN_SECONDS:
            return []
        note = (
            f"embedding {missing:,} texts with {self._embedder.identity.name} will take about "
            f"{seconds / 3600:.1f} hours; `--model fast` would take minutes"
        )
        logger.warning(note)
        return [note]

    def encode(self, window: pa.RecordBatch) -> None:
        """Encode a window in batches of about equal length; store the vectors, remember the failures."""
        texts = window["text"].to_pylist()
        hashes = window["text_hash"]
        for rows in _batches(window["token_count"].to_numpy(), self._batch_tokens):
            embedded = self._embedder.embed_documents([texts[row] for row in rows])
            good = np.setdiff1d(np.arange(len(rows)), list(embedded.errors))
            for i, error in embedded.errors.items():
                self.errors[hashes[rows[i]].as_py()] = error[:ERROR_LENGTH]
            if len(good):
                table = _table(hashes.take(pa.array(rows[good])), embedded.vectors[good])
                self._submit(self._writer.add, table)
            if time.perf_counter() - self._flushed_at > SHARD_SECONDS:
                self._submit(self._writer.flush)
                self._flushed_at = time.perf_counter()
            self._progress.advance(Stage.EMBED, len(rows))

    def _submit(self, write: Callable[..., None], *arguments: pa.Table) -> None:
        self._last_write.result()
        self._last_write = self._writing.submit(write, *arguments)


def _names(paths: Iterable[Path]) -> list[str]:
    return [str(path) for path in paths]


def _ahead(windows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield windows while a thread reads the next one."""
    with ThreadPoolExecutor(1, "repolake-read") as reading:
        upcoming = reading.submit(next, windows, None)
        while (window := upcoming.result()) is not None:
            upcoming = reading.submit(next, windows, None)
            yield window


def _batches(token_counts: NDArray[np.int32], batch_tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows, longest first, in batches whose padded size stays within the token budget."""
    order = np.argsort(-token_counts, kind="stable")
    start = 0
    while start < len(order):
        count = max(1, batch_tokens // max(1, int(token_counts[order[start]])))
        yield order[start : start + count]
        start += count


def _table(hashes: pa.Array, vectors: Vectors) -> pa.Table:
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.table({"text_hash": hashes, "embedding": embedding})


def _failures(
    session: LakeSession,
    errors: dict[str, str],
    snapshots: Sequence[Snapshot],
    snapshot_shards: list[str],
    chunk_shards: list[str],
) -> tuple[Failure, ...]:
    """Return one Failure for each file that holds a text without a vector."""
    if not errors:
        return ()
    repositories = {snapshot.snapshot_id: snapshot.repository for snapshot in snapshots}
    rows = session.rows(
        "queries/text_files",
        snapshot_shards=snapshot_shards,
        chunk_shards=chunk_shards,
        text_hashes=list(errors),
    )
    found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for snapshot_id, path, blob, text_hash in rows:
        found[repositories[snapshot_id], path, blob].add(text_hash)
    return tuple(
        Failure(repository, path, Stage.EMBED, _reason(errors, hashes), blob)
        for (repository, path, blob), hashes in sorted(found.items())
    )


def _reason(errors: dict[str, str], hashes: set[str]) -> str:
    reasons = sorted({errors[text_hash] for text_hash in hashes})
    chunks = "one chunk has" if len(hashes) == 1 else f"{len(hashes)} chunks have"
    return f"{chunks} no vector: {'; '.join(reasons)[:ERROR_LENGTH]}"
