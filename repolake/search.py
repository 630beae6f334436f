"""A read-only session on the published database: search, SQL, and the model's `embed()` in SQL."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from repolake.errors import ModelError, QueryError, SelectionError, UnknownNameError, sentence
from repolake.moments import read_moment
from repolake.query_models import IndexedModel, QueryRerankers
from repolake.records import Kind, SearchHit, SearchMode
from repolake.repository_map import map_lines
from repolake.reranker import Passage
from repolake.selection import checked_url, pick_files
from repolake.session import Connection, Session, open_session
from repolake.settings import Settings, load_settings

if TYPE_CHECKING:
    import pyarrow as pa

FILTERS = ("repository", "ref", "language", "kind", "path", "path_glob", "symbol", "since")
MAX_K = 10_000
MAX_WEIGHT = 100
RERANK_FACTOR = 3  # of k: so many of the hybrid's first are reranked, unless asked otherwise,
MAX_RERANK_DEPTH = 200  # but no more than these
CROWD = 50  # so many copies of the hits may have kept others out of an arm's first 100: then look deeper
EVERY_REF = "*"


class SearchHits(list[SearchHit]):
    """The hits of one search, best first; `notes` says what the ranking had to do without."""

    def __init__(self, hits: Sequence[SearchHit], notes: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.notes = notes


class Index:
    """The published database of one data folder, as it was when opened. Close it, or use `with`."""

    def __init__(
        self,
        session: Session,
        embed_query: Callable[[str], Sequence[float]],
        rerankers: QueryRerankers,
        settings: Settings,
    ) -> None:
        self._session = session
        self._embed_query = embed_query
        self._rerankers = rerankers
        self._settings = settings

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
        references: float = 0.0,
        select: str | None = None,
        rerank: str | None = None,
        rerank_depth: int | None = None,
        **filters: str | None,
    ) -> SearchHits:
        """Return the k best chunks that pass the filters, best first; of copies the best alone.

        Filters: repository, ref ("*" for all), language, kind, path (a file, or a folder with a final
        "/"), path_glob, symbol, since (files changed since a date or for an age such as `7d`).

        Further arms of a hybrid search, each off unless asked for: `recency` is the weight of newer files,
        and `references` that of chunks that use what the query names; at 1, the first gains as much as the
        first place of an arm gives. `select` is the address of an OpenAI-compatible endpoint that picks
        files from the map of the one repository searched; it is sent the query, paths and signatures.

        `rerank` names a cross-encoder that orders the first `rerank_depth` of the hybrid (default: three
        times k, at most 200) by its own score.

        Raises QueryError for a blank query or a filter without a meaning, UnknownNameError for a
        repository or ref that the index does not hold, ModelError when vectors were asked for, or no word
        found anything, and the model cannot be used, RerankerError when the cross-encoder cannot be used,
        QueryTimeoutError and DatabaseError when the database could not answer.
        """
        text = _checked_query(query)
        mode = _checked_mode(mode)
        parameters = self.checked_filters(filters)
        k = _checked_k(k)
        asked = {"recency": recency, "references": references, "select": select, "rerank": rerank}
        if mode is not SearchMode.HYBRID:
            for name in (name for name, value in asked.items() if value):
                raise QueryError(f"{name} has no part in mode {mode.value}", "use the mode hybrid")
        weights = [_checked_weight(name, asked[name]) for name in ("recency", "references")]
        depth = _checked_depth(rerank, rerank_depth, k)
        if rerank is not None:
            self._rerankers.load(rerank)  # before any work, should it be unusable
        notes: list[str] = []
        if mode is SearchMode.TEXT:
            rows = self._session.rows("queries/search_text", parameters | {"k": k, "query": text})
            return SearchHits([SearchHit(*row) for row in rows])
        embedding, failed = self._query_embedding(text)
        given = parameters | {"k": depth, "query_embedding": embedding}
        if mode is SearchMode.VECTOR:
            if failed is not None:
                raise failed
            return SearchHits([SearchHit(*row) for row in self._session.rows("queries/search_vector", given)])
        arms = self._reference_arm(text, weights[1], parameters)
        if select is not None:
            arms += self._selected_arm(text, embedding, select, parameters, notes)
        given |= {"query": text, "recency": weights[0], "arms": arms or None}
        hits = [SearchHit(*row) for row in self._session.rows("queries/search_hybrid", given)]
        if len(hits) < depth and sum(hit.copy_count or 0 for hit in hits) >= CROWD:
            wider = given | {"k": min(10 * depth, MAX_K)}
            hits = [SearchHit(*row) for row in self._session.rows("queries/search_hybrid", wider)][:depth]
        if failed is not None and not hits:
            raise failed  # neither arm answered: that is no empty result
        notes += _arm_notes(hits, failed)
        if rerank is not None:
            hits = self._reranked(rerank, text, hits, notes)[:k]
        return SearchHits(hits, tuple(notes))

    def _query_embedding(self, text: str) -> tuple[list[float] | None, ModelError | None]:
        """Return the query's vector, or why there is none."""
        try:
            return self._embedding(text), None
        except ModelError as error:
            return None, error

    def _reference_arm(self, query: str, weight: float, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        if not weight:
            return []
        given = parameters | {"query": query, "weight": weight}
        return self._session.rows("queries/reference_arm", given)[0][0] or []

    def _reranked(self, name: str, query: str, hits: list[SearchHit], notes: list[str]) -> list[SearchHit]:
        """Return the hits by a cross-encoder's scores; equal ones keep their order."""
        if not hits:
            return hits
        passages = [Passage(hit.path, hit.symbol, hit.signature, hit.text) for hit in hits]
        found = self._rerankers.rerank(name, query, passages)
        reranker = self._rerankers.load(name)
        if found.cut_count:
            limit = reranker.identity.max_tokens
            notes.append(
                f"{found.cut_count} of {len(hits)} candidates were cut to the reranker's {limit} tokens"
            )
        order = sorted(range(len(hits)), key=lambda row: (-found.scores[row], row))
        return [
            replace(
                hits[row],
                rank=place,
                score=float(found.scores[row]),
                hybrid_rank=hits[row].rank,
                hybrid_score=hits[row].score,
                rerank_score=float(found.scores[row]),
                reranker=reranker.identity.label,
            )
            for place, row in enumerate(order, 1)
        ]

    def _selected_arm(
        self,
        query: str,
        embedding: list[float] | None,
        url: str,
        parameters: dict[str, Any],
        notes: list[str],
    ) -> list[dict[str, Any]]:
        """Return the chunks of the files that a model picks; what goes wrong there is a note, not the end."""
        checked_url(url)
        repository = parameters["repository"] or self._only_repository()
        budget = {"repository": repository, "token_budget": self._settings.select_tokens}
        rows = self._session.rows("queries/repo_map", budget)
        if not rows:
            notes.append(f"no files were picked: {repository} has no map")
            return []
        paths = dict.fromkeys(str(row[1]) for row in rows)
        try:
            picked = pick_files(query, "\n".join(map_lines(rows)), paths, url=url, settings=self._settings)
        except SelectionError as error:
            notes.append(sentence(error))
            return []
        arm = {"repository": repository, "paths": picked, "query_embedding": embedding}
        return self._session.rows("queries/selected_arm", parameters | arm)[0][0] or []

    def _only_repository(self) -> str:
        repositories = sorted({row[0] for row in self._session.rows("queries/known_names", {})})
        if len(repositories) != 1:
            raise QueryError(
                "files are picked from the map of one repository",
                f"name it with --repository: {', '.join(repositories)}",
            )
        return str(repositories[0])

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
    rerankers: Collection[str] | None = None,
) -> Index:
    """Open the published database read-only, with its model for queries.

    `embed_query` (text → `(dimension,)` unit vector) replaces the model, for a process that holds it
    already. The model is loaded by the first query that needs it. `rerankers` are the cross-encoders that a
    search may name (null: any), for a service to strangers.

    Raises IndexMissingError before the first publish, LakeFormatError for a database of another version.
    """
    settings = settings or load_settings()
    session = open_session(Path(data_dir), settings)
    found = session.rows("queries/model", {})[0]
    model = IndexedModel(*found, settings=settings, data_dir=Path(data_dir))
    allowed = QueryRerankers(settings, Path(data_dir), rerankers)
    if embed_query is None:
        session.register_models(model.embed, model.load, model.dimension, allowed.scores)
    else:
        session.register_models(embed_query, lambda: None, model.dimension, allowed.scores)
    return Index(session, embed_query or model.embed, allowed, settings)


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


def _checked_weight(name: str, weight: object) -> float:
    is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
    if not is_number or not 0 <= float(weight) <= MAX_WEIGHT:  # type: ignore[arg-type]
        raise QueryError(f"{name} is {weight!r}", f"give a number from 0 to {MAX_WEIGHT}")
    return float(weight)  # type: ignore[arg-type]


def _checked_depth(rerank: str | None, depth: int | None, k: int) -> int:
    """Return how many hits the hybrid gives: k, or with a reranker as many as it orders."""
    if depth is not None and rerank is None:
        raise QueryError("rerank_depth has no part without a reranker", "name one with rerank")
    if rerank is None:
        return k
    if depth is None:
        return max(k, min(RERANK_FACTOR * k, MAX_RERANK_DEPTH))
    if not isinstance(depth, int) or isinstance(depth, bool) or not k <= depth <= MAX_K:
        raise QueryError(f"rerank_depth is {depth!r}", f"give a whole number from k ({k}) to {MAX_K}")
    return depth


def _checked_mode(mode: SearchMode | str) -> SearchMode:
    try:
        return SearchMode(mode)
    except ValueError as error:
        raise QueryError(f"{mode!r} is no mode", f"use one of {', '.join(SearchMode)}") from error


def _arm_notes(hits: list[SearchHit], failed: ModelError | None) -> list[str]:
    """Say which of words and meaning the hits had to do without."""
    words_only = [] if failed is None else [f"words only: {failed}"]
    if not hits:
        return words_only
    if not any(hit.text_rank for hit in hits):
        return [*words_only, "no word of the query stands in the index: ordered by meaning alone"]
    if failed is None and not any(hit.vector_rank for hit in hits):
        return ["the index holds no vectors for this: ordered by words alone"]
    return words_only
