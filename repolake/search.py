"""A read-only session on the published database: search, SQL, and the model's `embed()` in SQL."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from repolake.embedder import Embedder, load_embedder
from repolake.errors import ModelError, ModelMismatchError, QueryError, UnknownNameError
from repolake.model_identity import ModelIdentity, resolve_model
from repolake.moments import read_moment
from repolake.records import Kind, SearchHit, SearchMode
from repolake.session import Connection, Session, open_session
from repolake.settings import Settings, load_settings

if TYPE_CHECKING:
    import pyarrow as pa

FILTERS = ("repository", "ref", "language", "kind", "path", "path_glob", "symbol", "since")
MAX_K = 10_000
MAX_RECENCY = 100
EVERY_REF = "*"


class SearchHits(list[SearchHit]):
    """The hits of one search, best first; `notes` says what the ranking had to do without."""

    def __init__(self, hits: Sequence[SearchHit], notes: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.notes = notes


class Index:
    """The published database of one data folder, as it was when opened. Close it, or use `with`."""

    def __init__(self, session: Session, embed_query: Callable[[str], Sequence[float]]) -> None:
        self._session = session
        self._embed_query = embed_query

    @property
    def connection(self) -> Connection:
        """The DuckDB connection, read-only, with the macros, `embed(text)` and `search(query)` ready."""
        return self._session.connection

    @property
    def path(self) -> Path:
        """The database file that answers, whatever is published meanwhile."""
        return self._session.path

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(
        self,
        query: str,
        k: int = 10,
        mode: SearchMode | str = SearchMode.HYBRID,
        *,
        recency: float = 0.0,
        **filters: str | None,
    ) -> SearchHits:
        """Return the k best chunks that pass the filters, best first.

        Filters: repository, ref ("*" for all), language, kind, path (a file, or a folder with a final
        "/"), path_glob, symbol, since (files changed since a date or for an age such as `7d`). `recency`
        is the weight of newer files in a hybrid search: at 1, the newest file's chunks gain as much as the
        first place of an arm gives.

        Raises QueryError for a blank query or a filter without a meaning, UnknownNameError for a
        repository or ref that the index does not hold, ModelError when vectors were asked for, or no word
        found anything, and the model cannot be used, QueryTimeoutError and DatabaseError when the database
        could not answer.
        """
        text = _checked_query(query)
        mode = _checked_mode(mode)
        parameters = self.checked_filters(filters) | {"k": _checked_k(k)}
        if mode is SearchMode.HYBRID:
            parameters["recency"] = _checked_recency(recency)
        elif recency:
            raise QueryError(f"recency has no part in mode {mode.value}", "use the mode hybrid")
        notes: list[str] = []
        failed: ModelError | None = None
        if mode is not SearchMode.VECTOR:
            parameters["query"] = text
        if mode is not SearchMode.TEXT:
            try:
                parameters["query_embedding"] = self._embedding(text)
            except ModelError as error:
                if mode is SearchMode.VECTOR:
                    raise
                failed = error
                notes.append(f"words only: {error}")
                parameters["query_embedding"] = None
        rows = self._session.rows(f"queries/search_{mode.value}", parameters)
        hits = [SearchHit(*row) for row in rows]
        if failed is not None and not hits:
            raise failed  # neither arm answered: that is no empty result
        if mode is SearchMode.HYBRID and hits:
            if not any(hit.text_rank for hit in hits):
                notes.append("no word of the query stands in the index: ordered by meaning alone")
            elif not notes and not any(hit.vector_rank for hit in hits):
                notes.append("the index holds no vectors for this: ordered by words alone")
        return SearchHits(hits, tuple(notes))

    def sql(
        self,
        text: str,
        parameters: dict[str, Any] | Sequence[Any] | None = None,
        *,
        max_rows: int | None = None,
    ) -> pa.Table:
        """Run one SQL statement on its own connection and return its rows, at most `max_rows`.

        Raises QueryError for SQL that DuckDB does not accept, QueryTimeoutError, DatabaseError.
        """
        return self._session.sql(text, parameters, max_rows=max_rows)

    def rows(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Return all rows of one query of `sql/`, such as `queries/known_names`.

        Raises QueryTimeoutError when it takes too long, DatabaseError when DuckDB fails.
        """
        return self._session.rows(name, parameters)

    def _embedding(self, text: str) -> list[float]:
        vector = [float(value) for value in self._embed_query(text)]
        if not all(math.isfinite(value) for value in vector):
            raise ModelError("the indexed model", "it gave a vector with NaN or infinity for this query")
        return vector

    def checked_filters(self, filters: dict[str, str | None]) -> dict[str, Any]:
        """Return every filter of the SQL macros, null where none is given.

        Raises QueryError for a filter without a meaning, UnknownNameError for an unknown repository or ref.
        """
        for name in filters:
            if name not in FILTERS:
                raise QueryError(f"{name} is no filter", f"use one of {', '.join(FILTERS)}")
        given = {name: _clean(value) for name, value in filters.items() if value is not None}
        if "kind" in given and given["kind"].lower() not in set(Kind):
            raise QueryError(f"{given['kind']!r} is no kind", f"use one of {', '.join(Kind)}")
        if "repository" in given or "ref" in given:
            self._check_names(given.get("repository"), given.get("ref"))
        checked: dict[str, Any] = dict.fromkeys(FILTERS) | given
        if "since" in given:
            checked["since"] = read_moment(given["since"])
        return checked

    def _check_names(self, repository: str | None, ref: str | None) -> None:
        known = self._session.rows("queries/known_names", {})
        repositories = {row[0] for row in known}
        if repository is not None and repository not in repositories:
            raise UnknownNameError(
                f"the index holds no repository {repository!r}", f"it holds {', '.join(sorted(repositories))}"
            )
        refs = {row[1] for row in known if repository in (None, row[0])}
        if ref is not None and ref != EVERY_REF and ref not in refs:
            raise UnknownNameError(f"the index holds no ref {ref!r}", f"it holds {', '.join(sorted(refs))}")


def open_index(
    data_dir: Path | str,
    *,
    settings: Settings | None = None,
    embed_query: Callable[[str], Sequence[float]] | None = None,
) -> Index:
    """Open the published database read-only, with its model for queries.

    `embed_query` (text → `(dimension,)` unit vector) replaces the model, for a process that holds it
    already. The model is loaded by the first query that needs it.

    Raises IndexMissingError before the first publish, LakeFormatError for a database of another version.
    """
    settings = settings or load_settings()
    session = open_session(Path(data_dir), settings)
    found = session.rows("queries/model", {})[0]
    model = _IndexedModel(*found, settings=settings, data_dir=Path(data_dir))
    if embed_query is None:
        session.register_embed(model.embed, model.load, model.dimension)
    else:
        session.register_embed(embed_query, lambda: None, model.dimension)
    return Index(session, embed_query or model.embed)


class _IndexedModel:
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


def _clean(text: str) -> str:
    """Return the text as UTF-8 can hold it: a lone surrogate becomes the replacement character."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _checked_query(query: object) -> str:
    if not isinstance(query, str):
        raise QueryError(f"a query is text, not {type(query).__name__}", "give words, a name or a sentence")
    text = _clean(query)
    if not text.strip().strip("\0"):
        raise QueryError("the query is empty", "give words, a name or a sentence")
    return text


def _checked_k(k: object) -> int:
    if not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MAX_K:
        raise QueryError(f"k is {k!r}", f"give a whole number from 1 to {MAX_K}")
    return k


def _checked_recency(recency: object) -> float:
    is_number = isinstance(recency, (int, float)) and not isinstance(recency, bool)
    if not is_number or not 0 <= float(recency) <= MAX_RECENCY:  # type: ignore[arg-type]
        raise QueryError(f"recency is {recency!r}", f"give a number from 0 to {MAX_RECENCY}")
    return float(recency)  # type: ignore[arg-type]


def _checked_mode(mode: SearchMode | str) -> SearchMode:
    try:
        return SearchMode(mode)
    except ValueError as error:
        raise QueryError(f"{mode!r} is no mode", f"use one of {', '.join(SearchMode)}") from error
