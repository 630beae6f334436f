"""Parquet shards of the lake: Arrow schemas, and writing so that a final name means a whole file."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from repolake.errors import LakeReadError, LakeWriteError

SHARD_BYTES = 64 * 1024 * 1024
MODEL_KEY = b"repolake.model_fingerprint"

TIMESTAMP = pa.timestamp("us", tz="UTC")

SNAPSHOT_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("blob", pa.string()),
        pa.field("size_bytes", pa.int64()),
        pa.field("line_count", pa.int32()),
        pa.field("language", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("encoding", pa.string()),
        pa.field("skip_reason", pa.string()),
        pa.field("skip_rule", pa.string()),
        pa.field("error", pa.string()),
        pa.field("last_commit_at", TIMESTAMP),
        pa.field("last_author", pa.string()),
    ]
)


def _structs(**fields: pa.DataType) -> pa.ListType:
    return pa.list_(pa.struct(list(fields.items())))


CHUNK_SCHEMA = pa.schema(
    [
        pa.field("blob", pa.string(), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("ordinal", pa.int32(), nullable=False),
        pa.field("symbol", pa.string()),
        pa.field("symbol_kind", pa.string()),
        pa.field("signature", pa.string()),
        pa.field("signature_token_count", pa.int32()),
        pa.field("is_continuation", pa.bool_()),
        pa.field("token_count", pa.int32()),
        pa.field("text", pa.string()),
        pa.field("start_line", pa.int32()),
        pa.field("end_line", pa.int32()),
        pa.field("start_byte", pa.int64()),
        pa.field("end_byte", pa.int64()),
        pa.field("has_syntax_error", pa.bool_(), nullable=False),
        # What begins in the chunk: definitions, uses of names, imports. Lines are those of the file.
        pa.field(
            "symbols",
            _structs(
                name=pa.string(),
                symbol=pa.string(),
                symbol_kind=pa.string(),
                start_line=pa.int32(),
                end_line=pa.int32(),
            ),
        ),
        pa.field(
            "symbol_references",
            _structs(
                kind=pa.string(),
                name=pa.string(),
                qualifier=pa.string(),
                symbol=pa.string(),
                line=pa.int32(),
            ),
        ),
        pa.field(
            "imports",
            _structs(module=pa.string(), name=pa.string(), local_name=pa.string(), line=pa.int32()),
        ),
    ]
)


EVALUATION_SCHEMA = pa.schema(
    [
        pa.field("evaluation_id", pa.string(), nullable=False),
        pa.field("evaluated_at", TIMESTAMP, nullable=False),
        pa.field("queries", pa.string(), nullable=False),
        pa.field("queries_fingerprint", pa.string(), nullable=False),
        pa.field("mode", pa.string(), nullable=False),
        pa.field("chunker", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("model_id", pa.string(), nullable=False),
        pa.field("chunk_tokens", pa.int32(), nullable=False),
        pa.field("kind", pa.string()),
        pa.field("header", pa.string(), nullable=False),
        pa.field("reranker", pa.string()),
        pa.field("chunking_fingerprint", pa.string(), nullable=False),
        pa.field("query_id", pa.string(), nullable=False),
        pa.field("category", pa.string()),
        pa.field("language", pa.string()),
        pa.field("symbol_in_query", pa.bool_(), nullable=False),
        pa.field("seconds", pa.float64(), nullable=False),
        pa.field("metric", pa.string(), nullable=False),
        pa.field("value", pa.float64(), nullable=False),
    ]
)


def embedding_schema(dimension: int, model_fingerprint: str | None = None) -> pa.Schema:
    """Schema of an embeddings shard: `text_hash`, and the unit vector as a fixed-size list of float32.

    With a fingerprint it is stored in each shard, and shards of another model are not sound.
    """
    return pa.schema(
        [
            pa.field("text_hash", pa.string(), nullable=False),
            pa.field("embedding", pa.list_(pa.float32(), dimension), nullable=False),
        ],
        None if model_fingerprint is None else {MODEL_KEY: model_fingerprint.encode()},
    )


class ShardWriter:
    """Collects rows and writes a shard whenever enough bytes came together; `close` writes the rest.

    A crash loses at most what was added since the last shard.
    """

    def __init__(self, folder: Path, schema: pa.Schema, shard_bytes: int = SHARD_BYTES) -> None:
        self._folder = folder
        self._schema = schema
        self._shard_bytes = shard_bytes
        self._tables: list[pa.Table] = []
        self._bytes = 0

    def add(self, table: pa.Table) -> None:
        """Add rows of the writer's schema."""
        self._tables.append(table)
        self._bytes += table.nbytes
        if self._bytes >= self._shard_bytes:
            self.flush()

    def flush(self) -> None:
        """Write what has come together as one shard.

        Raises LakeWriteError when the folder cannot be written.
        """
        if self._tables:
            table = pa.concat_tables(self._tables).cast(self._schema)
            if table.num_rows:
                name = f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet"
                write_shard(self._folder / name, table)
        self._tables = []
        self._bytes = 0


def write_shard(path: Path, table: pa.Table) -> None:
    """Write one Parquet shard under a name starting with `_`, flush it to disk, rename it.

    Raises LakeWriteError when the folder cannot be written.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    write_atomically(path, sink.getvalue())


def is_sound_shard(path: Path, schema: pa.Schema) -> bool:
    """Whether the file is Parquet with a readable footer and this schema, its metadata included."""
    try:
        found = pq.read_schema(path)
    except (pa.ArrowException, OSError):
        return False
    metadata = found.metadata or {}
    has_metadata = all(metadata.get(key) == value for key, value in (schema.metadata or {}).items())
    return has_metadata and bool(found.remove_metadata().equals(schema.remove_metadata()))


def is_readable_shard(path: Path) -> bool:
    """Whether every page of the shard decompresses and has the checksum that it was written with."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group)
    except (pa.ArrowException, OSError):
        return False
    return True


def read_shard(path: Path, columns: Sequence[str] | None = None, filters: object = None) -> pa.Table:
    """Return rows of a shard, with its metadata; `filters` as in `pyarrow.parquet.read_table`.

    Raises LakeReadError when it is damaged or gone.
    """
    try:
        return pq.read_table(path, columns=columns, filters=filters)
    except (pa.ArrowException, OSError) as error:
        raise LakeReadError((str(path),), " ".join(str(error).split())[:200]) from error


def write_atomically(path: Path, data: bytes | pa.Buffer) -> None:
    """Write a whole file at once; see `atomic_file`.

    Raises LakeWriteError when the folder cannot be written.
    """
    with atomic_file(path) as file:
        file.write(data)


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file under a name that starts with `_`; at the end flush it to disk and rename it.

    Whatever ends the block early leaves the file that was there, and no other one. Raises LakeWriteError
    when the folder cannot be written.
    """
    temporary = path.with_name(f"_{os.getpid()}-{uuid.uuid4().hex[:8]}-{path.name}")
    with write_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn what the disk refuses into LakeWriteError."""
    try:
        yield
    except OSError as error:
        raise LakeWriteError(str(path), error.strerror or str(error)) from error
