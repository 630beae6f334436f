"""The frozen records and enumerations that stages, lake and faces pass to one another."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum

from repolake.errors import RepolakeError

WHOLE_REPOSITORY = "."  # the path of a failure that is not about one file
# Of a hit: null unless the search asked for it, or there is such a thing.
ASKED_COLUMNS = frozenset(
    {"recency_rank", "arm_ranks", "copy_count", "hybrid_rank", "hybrid_score", "rerank_score", "reranker"}
)


class SourceMode(StrEnum):
    """Where a snapshot's files come from."""

    COMMIT = "commit"
    WORKTREE = "worktree"
    FOLDER = "folder"


class Kind(StrEnum):
    """What a file is for."""

    SOURCE = "source"
    TEST = "test"
    DOCS = "docs"
    CONFIG = "config"
    EXAMPLE = "example"
    GENERATED = "generated"
    VENDORED = "vendored"
    OTHER = "other"


class Stage(StrEnum):
    """The four stages of a run, in order."""

    SCAN = "scan"
    CHUNK = "chunk"
    EMBED = "embed"
    LOAD = "load"


class Chunker(StrEnum):
    """How files are cut: along the syntax tree, or in fixed windows (the control of evaluations)."""

    AST = "ast"
    FIXED = "fixed"


class Header(StrEnum):
    """How the first line of an embedded text names the file: alone, or with its folders (for evaluations)."""

    NAME = "name"
    FOLDERS = "folders"


class SearchMode(StrEnum):
    """Which arms answer a query."""

    HYBRID = "hybrid"
    TEXT = "text"
    VECTOR = "vector"


class ExportFormat(StrEnum):
    """How an export is written."""

    JSONL = "jsonl"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class RepositorySpec:
    """One repository as the user asked for it."""

    location: str
    name: str | None = None
    refs: tuple[str, ...] = ()
    worktree: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where the bytes of a snapshot can be read again; small and picklable.

    `location` is the local folder: a git directory or checkout, or a plain folder. `commit` is set in
    commit mode.
    """

    location: str
    mode: SourceMode
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One ref of one repository as indexed. `tree` is null for folders; times are UTC."""

    snapshot_id: str
    repository: str
    ref: str
    commit: str
    tree: str | None
    committed_at: datetime | None
    indexed_at: datetime
    run_id: str
    is_current: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """A path that could not be read, chunked or embedded; tried again by the next run."""

    repository: str
    path: str
    stage: Stage
    error: str
    blob: str | None = None


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository of the lake. `root_commit` tells apart two repositories of one name."""

    repository: str
    location: str
    remote_url: str | None
    root_commit: str | None
    default_ref: str
    indexed_at: datetime


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What scanning one ref of one repository gave.

    `skipped_by_rule` counts skipped paths by `reason: rule`, most first.
    """

    repository: Repository
    snapshot: Snapshot
    source: Source
    files_indexed: int
    files_skipped: int
    bytes_indexed: int
    seconds: float
    is_unchanged: bool
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    skipped_by_rule: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """What chunking a snapshot gave. Counts are of this run only; a blob that several need counts once."""

    blobs_chunked: int
    chunks_new: int
    bytes_chunked: int
    syntax_error_count: int
    seconds: float
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What embedding gave. `truncated_chunk_count` counts texts over the model's limit, by language."""

    embeddings_new: int
    embeddings_reused: int
    token_count: int
    seconds: float
    truncated_chunk_count: dict[str, int] = field(default_factory=dict)
    truncated_token_count: dict[str, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What building and publishing the database gave."""

    database: str
    chunk_count: int
    embedding_count: int
    size_bytes: int
    seconds: float
    is_unchanged: bool = False


@dataclass(frozen=True, slots=True)
class GarbageReport:
    """What gc removed and left. `bytes_freed` is the lake and all databases before less after.

    `removed` counts by kind: shards, snapshots, databases, runs, mirrors, others. `database` is the file that
    was published without purged contents, else null.
    """

    bytes_freed: int
    lake_bytes: int
    database_bytes: int
    removed: dict[str, int]
    shards_written: int
    seconds: float
    purged: tuple[str, ...] = ()
    database: str | None = None
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RepositoryFailure:
    """A repository, or one ref of it, of which nothing could be read; a snapshot that it had stays.

    `ref` is null for the default ref. `error` is kept as it was raised, so that a face can tell wrong
    usage from a fault.
    """

    spec: RepositorySpec
    ref: str | None
    stage: Stage
    error: RepolakeError


@dataclass(frozen=True, slots=True)
class RepositoryReport:
    """What a run did for one ref of one repository. `ref` and `commit` are null if nothing could be read.

    `chunks` counts the chunks of the published snapshot; the other counts are of this run only.
    """

    repository: str
    ref: str | None
    commit: str | None
    files_indexed: int = 0
    files_skipped: int = 0
    chunks: int = 0
    chunks_new: int = 0
    embeddings_new: int = 0
    embeddings_reused: int = 0
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did. `seconds` has a value for each stage and `total`.

    `new_failures` are those that the run before did not have; `is_unchanged` means that the published
    database already held this content and was not built again.
    """

    run_id: str
    repositories: tuple[RepositoryReport, ...]
    seconds: dict[str, float]
    database: str
    is_unchanged: bool
    failures: tuple[Failure, ...] = ()
    new_failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def has_new_failures(self) -> bool:
        """Whether a repository failed, or a file that had not failed in the run before."""
        return bool(self.new_failures)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result of a search: the columns of the SQL macros under the same names.

    A hybrid search asks for the cosine of every candidate: `vector_score` is there even where `vector_rank`
    is null, beyond the first hundred.
    Beside them, null unless asked for: the places in arms (`recency_rank`, `arm_ranks` by arm), `copy_count`
    (how many more chunks of default refs are the same) and, after reranking, place and score before it,
    `rerank_score` (then also the `score`) and the `reranker`, name@fingerprint.
    """

    rank: int
    score: float
    chunk_id: int
    repository: str
    ref: str
    commit: str
    path: str
    start_line: int
    end_line: int
    symbol: str
    symbol_kind: str | None
    kind: str
    language: str
    signature: str | None
    text: str
    url: str | None
    text_rank: int | None
    text_score: float | None
    vector_rank: int | None
    vector_score: float | None
    recency_rank: int | None = None
    arm_ranks: dict[str, int] | None = None
    copy_count: int | None = None
    hybrid_rank: int | None = None
    hybrid_score: float | None = None
    rerank_score: float | None = None
    reranker: str | None = None

    def columns(self) -> dict[str, object]:
        """Return the result columns, and beside them what an arm gave that had to be asked for."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in ASKED_COLUMNS or value is not None
        }
