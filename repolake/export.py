"""Chunks for RAG: the published index as JSON Lines or Parquet, whole or since an earlier run."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from repolake import database
from repolake.errors import UnknownNameError, UsageError
from repolake.lake import Lake
from repolake.manifest import Manifest
from repolake.records import WHOLE_REPOSITORY, ExportFormat, Stage
from repolake.settings import Settings
from repolake.shards import atomic_file

BATCH_ROWS = 2_000
SHOWN_RUNS = 5  # that an error message names


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export holds. `run_id` is the run that built the index: the next one's `since`.

    `removed` counts rows that say what to forget: a chunk, or with a null `chunk_id` all of a repository.
    """

    run_id: str
    since: str | None
    chunks: int
    removed: int
    file: str | None


def export(
    output: Path | None, *, settings: Settings, export_format: ExportFormat, since: str | None = None
) -> ExportReport:
    """Write the chunks of the default refs to a file, or as JSON Lines to standard output.

    With `since` only what a store that read the index of that run lacks: first rows with `is_removed`,
    then chunks that are new or stand elsewhere. Rows stream; memory is bounded by the setting
    `search_memory`. The file appears when it is whole.

    Raises IndexMissingError before the first publish, UnknownNameError for a run that the lake does not
    know or that published nothing, UsageError for Parquet on standard output, LakeWriteError.
    """
    if output is None and export_format is ExportFormat.PARQUET:
        raise UsageError("Parquet is no text", "name a file with -o FILE")
    earlier = None if since is None else _manifest(Lake(settings.data_dir), since)
    with (
        tempfile.TemporaryDirectory(prefix="repolake-export-", ignore_cleanup_errors=True) as scratch,
        database.query_published(
            settings.data_dir, Path(scratch), memory_limit=settings.search_memory
        ) as session,
        _sink(output, export_format, int(session.rows("queries/model")[0][3])) as write,
    ):
        removed = chunks = 0
        if earlier is not None:
            for batch in session.stream("queries/export_removed", BATCH_ROWS, **_removal(earlier)):
                removed += write(batch)
        for batch in session.stream("queries/export_chunks", BATCH_ROWS, **_comparison(earlier)):
            chunks += write(batch)
        [(run_id,)] = session.rows("queries/published_run")
    return ExportReport(run_id, since, chunks, removed, None if output is None else str(output))


def export_schema(dimension: int) -> pa.Schema:
    """Return the columns of an export, in order. `vector` is null for a chunk that could not be embedded."""
    return pa.schema(
        [
            pa.field("chunk_id", pa.int64()),
            *(pa.field(name, pa.string()) for name in ("repository", "ref", "commit", "path")),
            pa.field("start_line", pa.int32()),
            pa.field("end_line", pa.int32()),
            *(pa.field(name, pa.string()) for name in ("symbol", "symbol_kind", "kind", "language")),
            *(pa.field(name, pa.string()) for name in ("signature", "text", "url", "text_hash", "model_id")),
            pa.field("is_removed", pa.bool_()),
            pa.field("vector", pa.list_(pa.float32(), dimension)),
        ]
    )


def _manifest(lake: Lake, run_id: str) -> Manifest:
    manifests = [manifest for manifest in lake.manifests() if manifest.database is not None]
    for manifest in manifests:
        if manifest.run_id == run_id:
            return manifest
    newest = ", ".join(manifest.run_id for manifest in manifests[: -SHOWN_RUNS - 1 : -1]) or "none"
    raise UnknownNameError(
        f"the lake knows no run {run_id!r} that published an index",
        f"it knows {newest}; or export everything, without --since",
    )


def _earlier_snapshots(manifest: Manifest) -> dict[str, str]:
    """Return the snapshot of each repository's default ref in that run, by repository."""
    default_refs = {row.repository: row.default_ref for row in manifest.repositories}
    return {
        snapshot.repository: snapshot.snapshot_id
        for snapshot in manifest.snapshots
        if snapshot.is_current and snapshot.ref == default_refs[snapshot.repository]
    }


def _removal(earlier: Manifest) -> dict[str, list[str]]:
    snapshots = _earlier_snapshots(earlier)
    return {"earlier_repositories": list(snapshots), "earlier_snapshots": list(snapshots.values())}


def _comparison(earlier: Manifest | None) -> dict[str, Any]:
    # What failed in that run may be whole now, under the same snapshot: it counts as not exported. A
    # repository that could not be scanned kept its last snapshot, which was.
    incomplete = [
        failure
        for failure in (earlier.failures if earlier else ())
        if failure.stage is not Stage.SCAN or failure.path != WHOLE_REPOSITORY
    ]
    return {
        "earlier_snapshots": list(_earlier_snapshots(earlier).values()) if earlier else [],
        "earlier_model": earlier.model["model_id"] if earlier else "",
        "incomplete_repositories": [failure.repository for failure in incomplete],
        "incomplete_paths": [failure.path for failure in incomplete],
    }


@contextmanager
def _sink(
    output: Path | None, export_format: ExportFormat, dimension: int
) -> Iterator[Callable[[pa.RecordBatch], int]]:
    """Yield a function that writes a batch of rows and returns their number."""
    schema = export_schema(dimension)
    if output is None:
        sys.stdout.flush()
        yield lambda batch: _write_lines(sys.stdout.buffer, _filled(batch, schema))
        return
    with atomic_file(output) as file:
        if export_format is ExportFormat.JSONL:
            yield lambda batch: _write_lines(file, _filled(batch, schema))
            return
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:

            def write(batch: pa.RecordBatch) -> int:
                writer.write_batch(_filled(batch, schema))
                return int(batch.num_rows)

            yield write


def _filled(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch with every column of the schema, null where it has none."""
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in batch.schema.names
        else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _write_lines(file: BinaryIO, batch: pa.RecordBatch) -> int:
    # Vectors are written by Arrow: many times as fast as by json, and as the shortest text of a float32.
    vectors = _vector_texts(batch.column("vector"))
    rows = batch.drop_columns(["vector"]).to_pylist()
    for row, vector in zip(rows, vectors, strict=True):
        if row["chunk_id"] is not None:
            row["chunk_id"] = str(row["chunk_id"])  # beyond what JSON readers keep exactly
        head = json.dumps(row, ensure_ascii=False)[:-1]
        file.write(f'{head}, "vector": {vector}}}\n'.encode())
    return len(rows)


def _vector_texts(vectors: pa.FixedSizeListArray) -> list[str]:
    texts = pc.cast(vectors, pa.list_(pa.string()))
    return [f"[{text}]" if text is not None else "null" for text in pc.binary_join(texts, ",").to_pylist()]
