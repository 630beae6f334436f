"""The models of one session's queries: the one that the vectors were made with, and rerankers."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from repolake.embedder import Embedder, load_embedder
from repolake.errors import ModelMismatchError, RerankerError
from repolake.model_identity import ModelIdentity, resolve_model
from repolake.reranker import Passage, Reranked, Reranker, load_reranker
from repolake.reranker_identity import resolve_reranker
from repolake.settings import Settings
from repolake.time_limit import pausing


class IndexedModel:
    """The model that the vectors were made with, loaded when the first query comes."""

    def __init__(
        self,
        name: str,
        revision: str | None,
        fingerprint: str,
        dimension: int,
        *,
        settings: Settings,
        data_dir: Path,
    ) -> None:
        self.dimension = dimension
        self._name = name
        self._revision = revision
        self._fingerprint = fingerprint
        self._settings = settings
        self._data_dir = data_dir
        self._embedder: Embedder | None = None
        self._lock = threading.Lock()  # a model is loaded once, and torch knows best how to use the cores

    def load(self) -> Embedder:
        """Return the model, from the second call on at once.

        Raises ModelError when it cannot be used, ModelMismatchError when it is another one now.
        """
        with self._lock:
            if self._embedder is None:
                self._embedder = load_embedder(self._identity(), self._settings)
            return self._embedder

    def embed(self, text: str) -> Sequence[float]:
        """Return the query's vector: `(dimension,)` float32, unit length.

        Raises ModelError when the model cannot be used, ModelMismatchError when it is another one now.
        """
        embedder = self.load()
        with self._lock:
            vector: list[float] = embedder.embed_query(text).tolist()
        return vector

    def _identity(self) -> ModelIdentity:
        identity = resolve_model(
            self._name,
            revision=self._revision,
            dimension=self.dimension,
            trust_remote_code=self._settings.trust_remote_code == self._name,
            cache_dir=self._data_dir,
        )
        if identity.fingerprint != self._fingerprint:
            raise ModelMismatchError(identity.label, f"{self._name}@{self._fingerprint[:12]}")
        return identity


class QueryRerankers:
    """Cross-encoders by name, loaded when a query asks for one; `allowed` are those that may (null: any)."""

    def __init__(self, settings: Settings, data_dir: Path, allowed: Collection[str] | None) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._allowed = allowed
        self._lock = threading.Lock()  # torch knows best how to use the cores
        self._loaded: dict[str, Reranker] = {}

    def load(self, name: str) -> Reranker:
        """Return a reranker, from the second call on at once.

        Raises RerankerError when it cannot be used or may not be.
        """
        if self._allowed is not None and name not in self._allowed:
            raise RerankerError(
                name, "this service does not offer it (REPOLAKE_SERVE_RERANKER names the one)"
            )
        with self._lock:
            if name not in self._loaded:
                identity = resolve_reranker(
                    name,
                    trust_remote_code=self._settings.trust_remote_code == name,
                    cache_dir=self._data_dir,
                )
                self._loaded = {name: load_reranker(identity, self._settings)}
            return self._loaded[name]

    def rerank(self, name: str, query: str, passages: Sequence[Passage]) -> Reranked:
        """Return a score for each passage.

        Raises RerankerError as `load` does, and when the model fails.
        """
        reranker = self.load(name)
        with self._lock:
            return reranker.rerank(query, passages)

    def scores(self, name: str, query: str, passages: list[dict[str, str | None]]) -> list[float]:
        """Return what SQL's `rerank_scores` gives; the time that loading takes does not count as the query's.

        Raises RerankerError as `rerank` does.
        """
        with pausing():
            self.load(name)
        shown = [Passage(**passage) for passage in passages]  # type: ignore[arg-type]  # of the type registered
        found: list[float] = self.rerank(name, query, shown).scores.tolist()
        return found
