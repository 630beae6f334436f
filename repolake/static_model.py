"""Encode texts with a static model, a table of token vectors, using nothing but tokenizers and numpy.

A static model (sentence-transformers' StaticEmbedding, model2vec) gives a text the mean of its tokens'
vectors. It reads texts of any length, needs no torch and no GPU, and encodes thousands of chunks a second.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from repolake.errors import ModelError
from repolake.word_tokens import WordTokens

WEIGHTS_FILE = "model.safetensors"
TOKENIZER_FILE = "tokenizer.json"
STATIC_MODULE = "StaticEmbedding"
NORMALIZE_MODULE = "Normalize"
TOKENIZER_KINDS = ("BPE", "Unigram", "WordLevel", "WordPiece")
# Texts encoded at once: enough to keep every core's tokenizer busy, few enough that memory stays flat.
TEXTS_AT_ONCE = 1024


class StaticModel:
    """Token vectors and their tokenizer: `encode` returns the normalised mean of a text's token vectors."""

    def __init__(self, tokenizer: Tokenizer, vectors: NDArray[np.float32]) -> None:
        """Take a tokenizer and its token vectors, (vocabulary size, dimension) float32.

        Padding and truncation are switched off in the tokenizer: a pad token must never enter a mean, and a
        static model has no longest text.
        """
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._words = WordTokens.of(tokenizer)
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)

    @classmethod
    def load(cls, path: str | Path) -> StaticModel:
        """Load the shipped model, or any sentence-transformers folder whose one module is StaticEmbedding.

        Beside that module only Normalize may stand. Plain weights (`embedding.weight`) and model2vec's
        (`embeddings`, with `mapping` and `weights` where there are any) are both read.

        Raises ModelError when the folder is no such model or its files do not fit one another.
        """
        folder = _module_folder(Path(path))
        name = str(path)
        try:
            tokenizer_text = (folder / TOKENIZER_FILE).read_text(encoding="utf-8")
            tensors = load_file(folder / WEIGHTS_FILE)
        except (OSError, UnicodeDecodeError, SafetensorError) as error:
            raise ModelError(
                name, f"{folder} holds no readable {TOKENIZER_FILE} and {WEIGHTS_FILE} ({error})"
            ) from error
        tokenizer, needed = _tokenizer(name, tokenizer_text)
        vectors = _fold(name, tensors)
        if len(vectors) < needed:
            raise ModelError(name, f"its tokenizer knows {needed} tokens, its table {len(vectors)}")
        return cls(tokenizer, vectors)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._vectors.shape[1])

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer, without padding and truncation; count with `add_special_tokens=False`."""
        return self._tokenizer

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text, (n, dimension) float32, unit length.

        A text without any token (empty, blank) or whose token vectors cancel out has no direction: its row is
        all zeros, never NaN, and the caller must reject it.
        """
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            for row, ids in enumerate(self._token_ids(texts[start : start + TEXTS_AT_ONCE]), start):
                # The sum has the direction of the mean; take() and BLAS are the fastest way to it.
                vectors[row] = np.ones(len(ids), dtype=np.float32) @ self._vectors.take(ids, axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    def _token_ids(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of each text, by the cache of words where it can answer."""
        found = [self._words.ids(text) if self._words is not None else None for text in texts]
        rest = [text for text, ids in zip(texts, found, strict=True) if ids is None]
        encodings = iter(self._tokenizer.encode_batch_fast(rest, add_special_tokens=False))
        return [np.array(next(encodings).ids, dtype=np.int64) if ids is None else ids for ids in found]


def _module_folder(folder: Path) -> Path:
    """Return the folder of the StaticEmbedding module: the model's, or the one in modules.json."""
    modules_file = folder / "modules.json"
    if not modules_file.exists():
        return folder
    try:
        modules: list[dict[str, str]] = json.loads(modules_file.read_bytes())
        kinds = [module["type"].rsplit(".", 1)[-1] for module in modules]
        paths = [module["path"] for module in modules]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(str(folder), f"its modules.json cannot be read ({error})") from error
    if kinds[:1] != [STATIC_MODULE] or any(kind != NORMALIZE_MODULE for kind in kinds[1:]):
        raise ModelError(str(folder), f"it is no static model: its modules are {', '.join(kinds) or 'none'}")
    return folder / str(paths[0])


def _tokenizer(name: str, text: str) -> tuple[Tokenizer, int]:
    """Return the tokenizer of a tokenizer.json, and how many token vectors it needs.

    The library raises a bare Exception for a wrong one, so the commonest faults are looked for first: a
    download cut short, a page of HTML in its place.
    """
    try:
        config = json.loads(text)
        kind, vocabulary = config["model"]["type"], config["model"]["vocab"]
        ids = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
        last = max(chain(ids, (token["id"] for token in config["added_tokens"] or ())), default=-1)
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(name, f"its {TOKENIZER_FILE} is no tokenizer ({error!r})") from error
    if kind not in TOKENIZER_KINDS:
        raise ModelError(name, f"its {TOKENIZER_FILE} is of the unknown kind {kind!r}")
    return Tokenizer.from_str(text), last + 1


def _fold(name: str, tensors: dict[str, NDArray[Any]]) -> NDArray[np.float32]:
    """Return one vector a token id from the tensors of a weights file."""
    table = tensors.get("embedding.weight", tensors.get("embeddings"))
    if table is None or table.ndim != 2:
        raise ModelError(name, f"its {WEIGHTS_FILE} holds no table of token vectors")
    if "mapping" in tensors:
        table = table[tensors["mapping"].astype(np.int64)]
    vectors = table.astype(np.float32)
    if "weights" in tensors:
        weights = tensors["weights"].astype(np.float32)
        if weights.shape != (len(vectors),):
            raise ModelError(name, f"its {WEIGHTS_FILE} has {weights.size} weights for {len(vectors)} tokens")
        vectors *= weights[:, None]
    if not np.isfinite(vectors).all():
        raise ModelError(name, f"its {WEIGHTS_FILE} holds numbers that are not finite")
    return vectors
