"""Windows of texts to shards of vectors: batches, precision, time left, writing beside the model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from repolake.embedder import Embedder, Vectors
from repolake.progress import Progress
from repolake.records import Stage
from repolake.shards import ShardWriter

CALIBRATE_COUNT = 256  # fewer texts take less time than choosing a precision for them
STATIC_BATCH_TOKENS = 500_000  # a static model pads nothing
LONG_RUN_SECONDS = 3600.0
MIN_SHARD_SECONDS = 1.0
MAX_SHARD_SECONDS = 15.0
SHARD_SHARE = 0.02  # of the time encoded so far: few shards in a long run, little to lose in a short one
ERROR_LENGTH = 300

logger = logging.getLogger(__name__)


class Encoding:
    """Encodes windows of texts batch by batch, while a thread of its own packs and writes the shards.

    A context manager: leaving it, by an error too, stores what was encoded. `errors` tells by text_hash why a
    text has no vector.
    """

    def __init__(
        self, embedder: Embedder, writer: ShardWriter, batch_tokens: int, progress: Progress
    ) -> None:
        self.errors: dict[str, str] = {}
        self.is_calibrated = embedder.identity.is_static
        self._embedder = embedder
        self._writer = writer
        self._progress = progress
        self._batch_tokens = STATIC_BATCH_TOKENS if embedder.identity.is_static else batch_tokens
        self._writing = ThreadPoolExecutor(1, "repolake-write")
        self._last_write: Future[None] = self._writing.submit(_nothing)
        self._started_at = self._flushed_at = time.perf_counter()

    def __enter__(self) -> Self:
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
        for rows in batches(window["token_count"].to_numpy(), self._batch_tokens):
            embedded = self._embedder.embed_documents([texts[row] for row in rows])
            good = np.setdiff1d(np.arange(len(rows)), list(embedded.errors))
            for i, error in embedded.errors.items():
                self.errors[hashes[rows[i]].as_py()] = error[:ERROR_LENGTH]
            if len(good):
                table = _table(hashes.take(pa.array(rows[good])), embedded.vectors[good])
                self._submit(self._writer.add, table)
            self._flush_in_time()
            self._progress.advance(Stage.EMBED, len(rows))

    def _flush_in_time(self) -> None:
        now = time.perf_counter()
        patience = min(max(SHARD_SHARE * (now - self._started_at), MIN_SHARD_SECONDS), MAX_SHARD_SECONDS)
        if now - self._flushed_at > patience:
            self._submit(self._writer.flush)
            self._flushed_at = now

    def _submit(self, write: Callable[..., None], *arguments: pa.Table) -> None:
        self._last_write.result()
        self._last_write = self._writing.submit(write, *arguments)


def ahead(windows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield windows while a thread reads the next one."""
    with ThreadPoolExecutor(1, "repolake-read") as reading:
        upcoming = reading.submit(next, windows, None)
        while (window := upcoming.result()) is not None:
            upcoming = reading.submit(next, windows, None)
            yield window


def batches(token_counts: NDArray[np.int32], batch_tokens: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows, longest first, in batches whose padded size stays within the token budget."""
    order = np.argsort(-token_counts, kind="stable")
    start = 0
    while start < len(order):
        count = max(1, batch_tokens // max(1, int(token_counts[order[start]])))
        yield order[start : start + count]
        start += count


def _nothing() -> None:
    """The write before the first one."""


def _table(hashes: pa.Array, vectors: Vectors) -> pa.Table:
    embedding = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    return pa.table({"text_hash": hashes, "embedding": embedding})
