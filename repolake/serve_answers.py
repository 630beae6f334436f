"""The shapes of what the server answers: the parameters it takes and the JSON it gives, for OpenAPI too."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from repolake.records import Kind, SearchMode

MAX_K = 200
MAX_QUERY_CHARACTERS = 2000
MAX_FILTER_CHARACTERS = 1000
MAX_CONTEXT_LINES = 500
MAX_SQL_CHARACTERS = 20_000


def _filter(description: str) -> Any:
    return Field(None, max_length=MAX_FILTER_CHARACTERS, description=description)


class SearchParameters(BaseModel):
    """What `/search` takes; an unknown name is refused."""

    model_config = ConfigDict(extra="forbid")

    q: str = Field(
        max_length=MAX_QUERY_CHARACTERS,
        description="Words, an identifier, or a description of behaviour.",
        examples=["where is the connection pool size configured"],
    )
    k: int = Field(10, ge=1, le=MAX_K, description="How many results, best first.")
    mode: SearchMode = Field(
        SearchMode.HYBRID, description="Which arms answer: words (text), meaning (vector), or both (hybrid)."
    )
    repository: str | None = _filter("Only this repository.")
    ref: str | None = _filter("Only this ref; `*`: every ref. Default: each repository's default ref.")
    language: str | None = _filter("Only files of this language, such as `python`.")
    kind: Kind | None = Field(None, description="Only files for this purpose.")
    path: str | None = _filter("Only this file or, ending in `/`, this folder.")
    path_glob: str | None = _filter("Only paths like this; `*` stays within a folder, `**` spans folders.")
    symbol: str | None = _filter("Only this symbol: a dotted path or the end of one.")
    since: str | None = _filter(
        "Only files changed since a time such as `2026-11-23`, or an age such as `7d`."
    )
    recency: float = Field(
        0.0, ge=0, le=100, description="How much newer files count in a hybrid search; 1: as an arm."
    )
    references: float = Field(
        0.0, ge=0, le=100, description="How much chunks count that use what the query names; 1: as an arm."
    )
    rerank: bool = Field(
        False, description="Order the first results by the server's cross-encoder, if it has one."
    )


class ChunkParameters(BaseModel):
    """What `/chunks/{chunk_id}` takes beside the id."""

    model_config = ConfigDict(extra="forbid")

    context: int = Field(
        0, ge=0, le=MAX_CONTEXT_LINES, description="How many lines of the file before and after the chunk."
    )
    ref: str | None = _filter("The chunk as it stands in this ref; default: the default ref, else the first.")


class InventoryParameters(BaseModel):
    """What `/inventory` takes."""

    model_config = ConfigDict(extra="forbid")

    repository: str | None = _filter("Only this repository.")


class SqlRequest(BaseModel):
    """One SQL statement with its parameters."""

    model_config = ConfigDict(extra="forbid")

    sql: str = Field(
        max_length=MAX_SQL_CHARACTERS,
        description="One read-only statement of DuckDB's SQL; `search('...')` and `embed('...')` work too.",
        examples=["select language, count(*) as chunks from code group by all"],
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Values of the statement's `$name` parameters."
    )


class Failed(BaseModel):
    """Every answer that is no success."""

    error: str = Field(description="One sentence: what is wrong and what to do.")


class Hit(BaseModel):
    """One search result."""

    rank: int = Field(description="Place in the result, from 1.")
    score: float = Field(description="What orders the results; comparable within one answer only.")
    chunk_id: str = Field(description="Stable id, a decimal string (it exceeds 2^53).")
    repository: str
    ref: str
    commit: str = Field(description="Commit id, or content hash of a plain folder.")
    path: str
    start_line: int = Field(description="First line, from 1.")
    end_line: int = Field(description="Last line, inclusive.")
    symbol: str = Field(description="Dotted path of the definition, or `<module>`.")
    symbol_kind: str | None = Field(description="Such as function or class.")
    kind: Kind = Field(description="What the file is for.")
    language: str
    signature: str | None
    text: str = Field(description="Source text, exactly as in the file.")
    url: str | None = Field(description="These lines at the commit on the repository's host, if known.")
    text_rank: int | None = Field(description="Place by BM25, null if no word matched.")
    text_score: float | None = Field(description="BM25 score.")
    vector_rank: int | None = Field(description="Place by cosine similarity, null beyond the first 100.")
    vector_score: float | None = Field(
        description="Cosine similarity, of a hybrid search wherever it stands."
    )
    recency_rank: int | None = Field(None, description="Place by recency, if that was asked for.")
    arm_ranks: dict[str, int] | None = Field(None, description="Places in other arms that were asked for.")
    copy_count: int | None = Field(None, description="How many more chunks of default refs are the same.")
    hybrid_rank: int | None = Field(None, description="Place before reranking.")
    hybrid_score: float | None = Field(None, description="Score before reranking.")
    rerank_score: float | None = Field(None, description="The cross-encoder's score.")
    reranker: str | None = Field(None, description="The cross-encoder: name and start of its fingerprint.")


class Context(BaseModel):
    """Consecutive lines of the chunk's file."""

    start_line: int = Field(description="Number of the first of the lines.")
    lines: list[str] = Field(description="The lines, without line feeds; one of white space alone is empty.")
    line_count: int = Field(description="Lines of the whole file.")


class Chunk(BaseModel):
    """One chunk and the lines around it."""

    chunk_id: str
    repository: str
    ref: str
    commit: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    symbol_kind: str | None
    kind: Kind
    language: str
    signature: str | None
    text: str
    url: str | None
    last_commit_at: datetime | None = Field(description="When the file was last changed, UTC.")
    last_author: str | None
    context: Context


class RepositoryEntry(BaseModel):
    """One repository as indexed: its default ref, and what searches can be limited to."""

    repository: str
    ref: str | None = Field(description="The default ref; the counts are of this one.")
    commit: str | None
    committed_at: datetime | None
    indexed_at: datetime | None
    indexed_file_count: int
    skipped_file_count: int
    failed_file_count: int
    indexed_bytes: int
    chunk_count: int
    refs: list[str] = Field(description="All searchable refs.")
    languages: dict[str, int] = Field(description="Chunks by language.")
    kinds: dict[str, int] = Field(description="Chunks by kind.")


class InventoryEntry(BaseModel):
    """How many paths of a repository's default ref became what."""

    repository: str
    decision: str = Field(description="indexed, skipped or failed.")
    kind: Kind | None
    language: str | None
    skip_reason: str | None
    skip_rule: str | None = Field(description="The very rule that fired.")
    file_count: int
    size_bytes: int | None


class EvaluationEntry(BaseModel):
    """The mean of one metric of one evaluated variant."""

    evaluation_id: str
    evaluated_at: datetime
    queries: str
    query_count: int
    model_id: str | None
    chunker: str | None
    chunk_tokens: int | None
    kind: str | None
    header: str
    reranker: str | None
    mode: str
    metric: str
    value: float | None


class Health(BaseModel):
    """Whether the server can answer."""

    status: str = Field(description="`ok`, or `no index` (with status 503).")
    index: str | None = Field(description="Name of the database that answers.")
    problem: str | None = Field(description="Why a newer database could not be opened.")


class Rows(BaseModel):
    """The result of an SQL statement."""

    columns: list[str]
    types: list[str] = Field(description="Arrow type of each column.")
    rows: list[list[Any]] = Field(description="Ids and integers beyond 2^53 are decimal strings.")
    is_truncated: bool = Field(description="Whether the statement had more rows than the server gives.")
