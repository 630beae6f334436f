"""Cross-encoders: scores for a query and passages read together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repolake.cores import usable_core_count
from repolake.embedder import LOADING_ERRORS, MODEL_ERRORS, loading_problem, reduced_dtype
from repolake.errors import RerankerError
from repolake.reranker_identity import RerankerIdentity
from repolake.settings import Settings

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Scores = NDArray[np.float64]

# Reduced precision may move a score by this share of the spread of the probe's scores.
MAX_PROBE_ERROR = 0.05
# Fixed, so that the same model on the same machine always computes in the same precision.
PROBE_QUERIES = ("add two numbers", "where is the connection closed")
PROBE_PASSAGES = (
    "def add(a, b):\n    return a + b",
    "class Pool:\n    def close(self):\n        self.connection.close()",
    "# Changes\n\n- Fix a typo in the documentation.",
    "for (const row of rows) { total += row.price * row.count; }",
)


class Passage(NamedTuple):
    """What a reranker is shown of a chunk."""

    path: str
    symbol: str
    signature: str | None
    text: str

    def shown(self) -> str:
        """Return path and symbol, of a later piece its signature, and the text."""
        head = f"# {self.path} :: {self.symbol}\n"
        first_line = (self.signature or "").strip().partition("\n")[0]
        if first_line and first_line not in self.text:
            head = f"{head}{self.signature}\n"
        return head + self.text


@dataclass(frozen=True, slots=True)
class Reranked:
    """`scores`: (n,) float64, larger is better, rounded to six digits; `cut_count`: pairs that were cut."""

    scores: Scores
    cut_count: int


class Reranker:
    """A cross-encoder ready to score; made by `load_reranker`."""

    def __init__(self, identity: RerankerIdentity, batch_tokens: int, threads: int) -> None:
        import torch  # five seconds and 950 MB: only when there is something to score
        from tokenizers import Tokenizer

        torch.set_num_threads(threads)
        self.identity = identity
        self._batch_tokens = batch_tokens
        self._tokenizer = Tokenizer.from_file(str(identity.tokenizer_file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._model = self._load()
        if self._model.num_labels != 1:
            raise RerankerError(
                identity.name, f"it gives {self._model.num_labels} scores for a pair, where one is wanted"
            )
        self._reduce_precision()

    def rerank(self, query: str, passages: Sequence[Passage]) -> Reranked:
        """Score each passage for the query, in length-sorted batches.

        Raises RerankerError when the model fails or gives a score that is no finite number.
        """
        pairs = [(query, passage.shown()) for passage in passages]
        lengths = np.array([len(found.ids) for found in self._tokenizer.encode_batch(pairs)], dtype=np.int64)
        limit = self.identity.max_tokens
        try:
            scores = self._scores(pairs, lengths if limit is None else np.minimum(lengths, limit))
        except MODEL_ERRORS as error:
            raise RerankerError(self.identity.name, f"{type(error).__name__}: {error}") from error
        if not np.isfinite(scores).all():
            raise RerankerError(self.identity.name, "it gave a score that is no finite number")
        return Reranked(scores.round(6), 0 if limit is None else int((lengths > limit).sum()))

    def _scores(self, pairs: list[tuple[str, str]], lengths: NDArray[np.int64]) -> Scores:
        scores: Scores = np.zeros(len(pairs))
        for rows in self._batches(lengths):
            batch = [pairs[row] for row in rows]
            scores[rows] = self._model.predict(batch, batch_size=len(batch), show_progress_bar=False)
        return scores

    def _batches(self, lengths: NDArray[np.int64]) -> Iterator[list[int]]:
        """Yield rows by falling length, as many at once as the budget of padded tokens allows."""
        batch: list[int] = []
        for row in np.argsort(-lengths, kind="stable").tolist():
            if batch and (len(batch) + 1) * int(lengths[batch[0]]) > self._batch_tokens:
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch

    def _load(self) -> CrossEncoder:
        from sentence_transformers import CrossEncoder
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        identity = self.identity
        try:
            model: CrossEncoder = CrossEncoder(
                identity.path,
                max_length=identity.max_tokens,
                trust_remote_code=identity.trust_remote_code,
                local_files_only=True,
            )
        except LOADING_ERRORS as error:
            reason = loading_problem(error, is_trusted=identity.trust_remote_code)
            raise RerankerError(identity.name, reason) from error
        model.eval()
        return model

    def _reduce_precision(self) -> None:
        """Halve the encoder's precision where the machine has it natively and the probe's scores stay true.

        The head computes in float32 either way: its own rounding would make ties.
        """
        transformer: Any = self._model.model
        encoder: Any = getattr(transformer, "base_model", None)
        dtype = None if encoder is None or encoder is transformer else reduced_dtype(encoder)
        if dtype is None:
            return
        exact = self._probe()
        encoder.to(dtype)
        encoder.register_forward_hook(_to_float32)
        try:
            error = np.abs(self._probe() - exact).max()
            if error <= MAX_PROBE_ERROR * (exact.max() - exact.min()):
                return
        except MODEL_ERRORS:
            pass  # an operation without an implementation in this precision
        self._model = self._load()

    def _probe(self) -> NDArray[Any]:
        import torch

        pairs = [(query, passage) for query in PROBE_QUERIES for passage in PROBE_PASSAGES]
        raw: NDArray[Any] = self._model.predict(
            pairs, show_progress_bar=False, activation_fn=torch.nn.Identity()
        )
        return raw


def _to_float32(_module: object, _inputs: object, output: Any) -> Any:
    for key in output:
        if hasattr(output[key], "is_floating_point") and output[key].is_floating_point():
            output[key] = output[key].float()
    return output


def load_reranker(identity: RerankerIdentity, settings: Settings) -> Reranker:
    """Return the cross-encoder ready to score; the process keeps the last one loaded.

    Raises RerankerError when its files do not make a model that scores pairs.
    """
    return _load(identity, settings.batch_tokens, settings.threads or usable_core_count())


@lru_cache(maxsize=1)
def _load(identity: RerankerIdentity, batch_tokens: int, threads: int) -> Reranker:
    return Reranker(identity, batch_tokens, threads)
