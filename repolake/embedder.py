"""Texts to checked unit vectors, by a transformer or a table of token vectors."""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from repolake.cores import usable_core_count
from repolake.errors import ModelError
from repolake.model_identity import UNTRUSTED, ModelIdentity
from repolake.settings import Settings

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

Vectors = NDArray[np.float32]
Task = Literal["query", "document"]

MIN_COSINE = 0.999  # of reduced to full precision, over the sample
SAMPLE_COUNT = 16
MIN_NORM = 1e-12
PROBE_TEXT = "def add(a, b): return a + b"
# What torch, tokenizers and models' own code raise on a text that they cannot take.
MODEL_ERRORS = (
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    MemoryError,
)
# And what reading their files adds to that.
LOADING_ERRORS = (OSError, ImportError, SafetensorError, pickle.UnpicklingError, *MODEL_ERRORS)


@dataclass(frozen=True, slots=True)
class Embedded:
    """`vectors`: (n, dimension) float32 of unit length; `errors`: row → why that text has no vector.

    The rows of `errors` are zero in `vectors` and must not be stored.
    """

    vectors: Vectors
    errors: dict[int, str] = field(default_factory=dict)


class Encoder(Protocol):
    """A loaded model as it comes: its output is not to be trusted."""

    def encode(self, texts: Sequence[str], prompt: str, task: Task) -> NDArray[Any]:
        """Return one raw vector a text."""

    def calibrate(self, texts: Sequence[str], prompt: str) -> None:
        """Choose the fastest precision that is true enough, trying it on these texts."""


class Embedder:
    """A model ready to encode; made by `load_embedder`."""

    def __init__(self, identity: ModelIdentity, encoder: Encoder) -> None:
        self.identity = identity
        self._encoder = encoder
        self._is_precision_chosen = False

    def calibrate(self, texts: Sequence[str], token_counts: Sequence[int]) -> float:
        """Choose the precision, once, on a sample of the texts to come; return the rate in tokens a second.

        Texts that the model cannot take are passed over: they are found one by one later. The rate is 0
        when it could not be measured.
        """
        step = max(1, len(texts) // SAMPLE_COUNT)
        sample = list(texts[::step][:SAMPLE_COUNT])
        prompt = self.identity.document_prompt
        with contextlib.suppress(*MODEL_ERRORS):
            if not self._is_precision_chosen:
                self._is_precision_chosen = True
                self._encoder.calibrate(sample, prompt)
            started = time.perf_counter()
            self._encoder.encode(sample, prompt, "document")
            padded = max(token_counts[::step][:SAMPLE_COUNT]) * len(sample)
            return padded / (time.perf_counter() - started)
        return 0.0

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Encode texts of one batch with the document prompt.

        Raises ModelError when the model fails even on a plain line of code: then no text is to blame.
        """
        result = Embedded(np.zeros((len(texts), self.identity.dimension), np.float32))
        self._fill(result, list(texts), 0, "document")
        if texts and len(result.errors) == len(texts):
            _, reason = self._try([PROBE_TEXT], "document")
            if reason:
                raise ModelError(self.identity.name, f"it fails on every text ({reason})")
        return result

    def embed_query(self, text: str) -> Vectors:
        """Encode one query with the query prompt: (dimension,) float32 of unit length.

        Raises ModelError when the model gives no usable vector for it.
        """
        vectors, reason = self._try([text], "query")
        if reason:
            raise ModelError(self.identity.name, f"it gives no vector for this query ({reason})")
        vector: Vectors = vectors[0]
        return vector

    def _fill(self, result: Embedded, texts: list[str], start: int, task: Task) -> None:
        """Encode texts[…] into result rows from `start` on; on a failure halve until the poison is alone."""
        vectors, reason = self._try(texts, task)
        if not reason:
            result.vectors[start : start + len(texts)] = vectors
        elif len(texts) == 1:
            result.errors[start] = reason
        else:
            half = len(texts) // 2
            self._fill(result, texts[:half], start, task)
            self._fill(result, texts[half:], start + half, task)

    def _try(self, texts: list[str], task: Task) -> tuple[Vectors, str]:
        """Return unit vectors and an empty reason, or anything and the reason why they are no good."""
        prompt = self.identity.query_prompt if task == "query" else self.identity.document_prompt
        dimension = self.identity.dimension
        nothing = np.zeros((0, dimension), np.float32)
        try:
            raw = self._encoder.encode(texts, prompt, task)
        except MODEL_ERRORS as error:
            return nothing, f"{type(error).__name__}: {error}"
        if raw.ndim != 2 or len(raw) != len(texts):
            return nothing, f"the model returned {len(raw)} vectors for {len(texts)} texts"
        if raw.shape[1] != self.identity.native_dimension:
            return nothing, f"the vector has {raw.shape[1]} dimensions, not {self.identity.native_dimension}"
        vectors = raw[:, :dimension].astype(np.float32)
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            return nothing, "the vector holds NaN or infinite numbers"
        if (norms < MIN_NORM).any():
            return nothing, "the vector is zero"
        return (vectors / norms).astype(np.float32), ""


def load_embedder(identity: ModelIdentity, settings: Settings) -> Embedder:
    """Return the model ready to encode; only a transformer imports torch.

    The process keeps the last model loaded: runs embed one repository after the other.

    Raises ModelError when its files do not make a model that sentence-transformers can load.
    """
    return _load(identity, settings.threads or usable_core_count())


@lru_cache(maxsize=1)
def _load(identity: ModelIdentity, threads: int) -> Embedder:
    if identity.is_static:
        return Embedder(identity, _StaticEncoder(identity))
    return Embedder(identity, _TransformerEncoder(identity, threads))


class _StaticEncoder:
    """A table of token vectors: no torch, no precision to choose."""

    def __init__(self, identity: ModelIdentity) -> None:
        from repolake.static_model import StaticModel  # transformers need none

        self._model = StaticModel.load(identity.path)

    def encode(self, texts: Sequence[str], prompt: str, task: Task) -> NDArray[Any]:  # noqa: ARG002
        return self._model.encode([prompt + text for text in texts])

    def calibrate(self, texts: Sequence[str], prompt: str) -> None:
        """Nothing to choose."""


class _TransformerEncoder:
    """A sentence-transformers model of any kind on PyTorch."""

    def __init__(self, identity: ModelIdentity, threads: int) -> None:
        import torch  # five seconds and 950 MB: only when there is something to encode

        torch.set_num_threads(threads)
        self._identity = identity
        self._model = self._load()

    def _load(self) -> SentenceTransformer:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        identity = self._identity
        try:
            model = SentenceTransformer(
                identity.path, trust_remote_code=identity.trust_remote_code, local_files_only=True
            )
            if identity.max_tokens is not None and model.max_seq_length != identity.max_tokens:
                model.max_seq_length = identity.max_tokens
        except LOADING_ERRORS as error:
            reason = loading_problem(error, is_trusted=identity.trust_remote_code)
            raise ModelError(identity.name, reason) from error
        model.eval()
        return model

    def encode(self, texts: Sequence[str], prompt: str, task: Task) -> NDArray[Any]:
        encode = self._model.encode_query if task == "query" else self._model.encode_document
        # An explicit prompt, even an empty one, keeps the model from adding its own a second time.
        tensor = encode(
            list(texts),
            prompt=prompt,
            batch_size=len(texts),
            show_progress_bar=False,
            convert_to_tensor=True,
        )
        raw: NDArray[Any] = tensor.float().cpu().numpy()
        return raw

    def calibrate(self, texts: Sequence[str], prompt: str) -> None:
        """Halve the precision of the transformer where the machine computes it natively and it stays true.

        The vectors of the sample must keep a cosine of MIN_COSINE to those of float32, else float32 stays.
        Pooling and later modules compute in float32 either way.
        """
        dtype = reduced_dtype(self._model[0])
        if dtype is None:
            return
        exact = _unit(self.encode(texts, prompt, "document"))
        first = self._model[0]
        first.to(dtype)
        hook = first.register_forward_hook(_to_float32)
        try:
            cosines = (exact * _unit(self.encode(texts, prompt, "document"))).sum(axis=1)
            if bool((cosines >= MIN_COSINE).all()):
                return
        except MODEL_ERRORS:
            pass  # an operation without an implementation in this precision
        hook.remove()
        self._model = self._load()


def loading_problem(error: Exception, *, is_trusted: bool) -> str:
    """Return why a model could not be loaded; transformers itself finds that its files name code to run."""
    if not is_trusted and "trust_remote_code" in str(error):
        return UNTRUSTED
    return f"{type(error).__name__}: {error}"


def reduced_dtype(module: torch.nn.Module) -> torch.dtype | None:
    """Return the half precision that this machine computes natively, None to leave the module as it is."""
    import torch

    parameter = next(module.parameters(), None)
    if parameter is None or parameter.dtype != torch.float32:
        return None
    if parameter.device.type == "cuda":
        return torch.float16
    # Older versions cannot tell: float32 then.
    capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    has_bfloat16 = any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return torch.bfloat16 if has_bfloat16 else None


def _to_float32(_module: object, _inputs: object, features: dict[str, Any]) -> dict[str, Any]:
    for key, value in features.items():
        if hasattr(value, "is_floating_point") and value.is_floating_point():
            features[key] = value.float()
    return features


def _unit(raw: NDArray[Any]) -> NDArray[np.float64]:
    vectors = raw.astype(np.float64)
    result: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return result
