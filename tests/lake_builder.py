"""A small lake for tests, written through `repolake.lake` as the stages write it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from repolake.lake import Lake
from repolake.manifest import Manifest
from repolake.records import Failure, Repository, Snapshot, Stage
from repolake.shards import CHUNK_SCHEMA, SNAPSHOT_SCHEMA, ShardWriter, embedding_schema

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FINGERPRINT = "c0ffee"


@dataclass
class Piece:
    """One chunk of a file."""

    text: str
    symbol: str = "<module>"
    symbol_kind: str | None = None
    signature: str | None = None
    is_continuation: bool = False
    start_line: int = 1
    vector: tuple[float, ...] | None = None
    start_byte: int | None = None  # the end of the piece before, unless it overlaps


@dataclass
class File:
    """One file of a snapshot."""

    path: str
    pieces: list[Piece] = field(default_factory=list)
    language: str = "python"
    kind: str = "source"
    last_commit_at: datetime | None = NOW

    @property
    def blob(self) -> str:
        """A stand-in for git's object id."""
        return hashlib.sha1(repr(self.pieces).encode(), usedforsecurity=False).hexdigest()


class LakeBuilder:
    """Collects repositories and refs, then writes shards and a manifest."""

    def __init__(self, data_dir: Path, dimension: int = 3) -> None:
        self.lake = Lake(data_dir)
        self.dimension = dimension
        self.repositories: dict[str, Repository] = {}
        self.snapshots: list[Snapshot] = []
        self.failures: list[Failure] = []
        self._chunks = ShardWriter(self.lake.chunks_dir(FINGERPRINT), CHUNK_SCHEMA)
        self._blobs: set[tuple[str, str]] = set()
        self._hashes: set[str] = set()
        self._schema = embedding_schema(dimension, "f" * 64)
        self._embeddings = ShardWriter(self.lake.embeddings_dir("tiny-ffff"), self._schema)

    def add(
        self,
        repository: str,
        files: list[File],
        *,
        ref: str = "main",
        commit: str = "a" * 40,
        skipped: dict[str, tuple[str, str]] | None = None,
        unreadable: dict[str, str] | None = None,
        is_current: bool = True,
        remote_url: str | None = None,
    ) -> str:
        """Add one snapshot; the first ref of a repository is its default. Return the snapshot id."""
        snapshot_id = hashlib.md5(f"{repository} {ref} {commit}".encode(), usedforsecurity=False).hexdigest()
        self.repositories.setdefault(
            repository, Repository(repository, f"/src/{repository}", remote_url, "0" * 40, ref, NOW)
        )
        self.snapshots.append(
            Snapshot(snapshot_id, repository, ref, commit, "b" * 40, NOW, NOW, "run-1", is_current)
        )
        rows = [
            {
                "path": file.path,
                "blob": file.blob,
                "size_bytes": sum(len(piece.text.encode()) for piece in file.pieces),
                "line_count": max((p.start_line + p.text.count("\n") for p in file.pieces), default=0),
                "language": file.language,
                "kind": file.kind,
                "encoding": "utf-8",
                "last_commit_at": file.last_commit_at,
                "last_author": "Ann",
            }
            for file in files
        ]
        for path, (reason, rule) in (skipped or {}).items():
            rows.append({"path": path, "size_bytes": 9, "skip_reason": reason, "skip_rule": rule})
        for path, error in (unreadable or {}).items():
            rows.append({"path": path, "size_bytes": 9, "error": error})
        self.lake.write_snapshot(snapshot_id, pa.Table.from_pylist(rows, SNAPSHOT_SCHEMA))
        for file in files:
            self._add_file(file)
            if any(piece.vector is None for piece in file.pieces):
                self.failures.append(Failure(repository, file.path, Stage.EMBED, "no vector", file.blob))
        return snapshot_id

    def _add_file(self, file: File) -> None:
        if (file.blob, file.language) not in self._blobs:
            self._blobs.add((file.blob, file.language))
            self._chunks.add(pa.Table.from_pylist(_chunk_rows(file), CHUNK_SCHEMA))
        for piece in file.pieces:
            text_hash = hashlib.md5(embedded_text(file, piece).encode(), usedforsecurity=False).hexdigest()
            if piece.vector is not None and text_hash not in self._hashes:
                self._hashes.add(text_hash)
                row = {"text_hash": text_hash, "embedding": list(piece.vector)}
                self._embeddings.add(pa.Table.from_pylist([row], self._schema))

    def manifest(self, run_id: str = "20260102T030405-000001", sequence: int = 1) -> Manifest:
        """Write what was collected and return the manifest that names it."""
        self._chunks.flush()
        self._embeddings.flush()
        return Manifest(
            run_id=run_id,
            sequence=sequence,
            started_at=NOW,
            finished_at=NOW,
            state="complete",
            version="0.1.0",
            chunking_fingerprint=FINGERPRINT,
            model={
                "model_id": "tiny-ffff",
                "name": "tiny",
                "revision": None,
                "fingerprint": "f" * 64,
                "dimension": self.dimension,
                "max_tokens": 256,
                "pooling": "mean",
                "query_prompt": "",
                "document_prompt": "",
            },
            config={},
            repositories=tuple(self.repositories.values()),
            snapshots=tuple(self.snapshots),
            failures=tuple(self.failures),
        )


def embedded_text(file: File, piece: Piece) -> str:
    """The text that the model reads, written a second time from its definition."""
    name = file.path.rsplit("/", 1)[-1]
    label = name if len(name) <= 24 else "…" + name[-23:]
    signature = f"{piece.signature}\n" if piece.is_continuation else ""
    return f"# {label} :: {piece.symbol}\n{signature}{piece.text}"


def _chunk_rows(file: File) -> list[dict[str, object]]:
    if not file.pieces:
        return [{"blob": file.blob, "language": file.language, "ordinal": -1, "has_syntax_error": False}]
    rows: list[dict[str, object]] = []
    start_byte = 0
    for ordinal, piece in enumerate(file.pieces):
        start_byte = start_byte if piece.start_byte is None else piece.start_byte
        end_byte = start_byte + len(piece.text.encode())
        rows.append(
            {
                "blob": file.blob,
                "language": file.language,
                "ordinal": ordinal,
                "symbol": piece.symbol,
                "symbol_kind": piece.symbol_kind,
                "signature": piece.signature,
                "signature_token_count": 3,
                "is_continuation": piece.is_continuation,
                "token_count": len(piece.text.split()),
                "text": piece.text,
                "start_line": piece.start_line,
                "end_line": piece.start_line + piece.text.count("\n"),
                "start_byte": start_byte,
                "end_byte": end_byte,
                "has_syntax_error": False,
            }
        )
        start_byte = end_byte
    return rows
