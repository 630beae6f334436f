"""The load stage: build a fresh database from the lake, check it, publish it."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from repolake import database, database_files
from repolake.centrality import page_rank
from repolake.errors import PublishError
from repolake.lake import Lake
from repolake.manifest import Manifest
from repolake.progress import Progress
from repolake.records import LoadReport, Stage
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, EVALUATION_SCHEMA, TIMESTAMP, embedding_schema
from repolake.sql_files import embedded_text_macros

BATCH_CHUNKS = 10_000  # 50,000 of 600 characters need more than 1 GB
ROOM_PER_BYTE = 4


def load(manifest: Manifest, *, lake: Lake, settings: Settings, progress: Progress) -> LoadReport:
    """Build `index-<run_id>.duckdb` of all that the manifest names, check it and publish it.

    Raises PublishError when a check fails or the disk has too little room, LakeWriteError when the data
    folder cannot be written, DatabaseError when a shard cannot be read. Yesterday's database answers on.
    """
    started = time.monotonic()
    draft = database_files.draft_path(lake.data_dir, manifest.run_id)
    dimension = int(manifest.model["dimension"])
    database_files.discard_drafts(lake.data_dir)
    _check_room(manifest, lake)
    with database.build(
        draft, dimension, memory_limit=settings.load_memory, threads=settings.threads
    ) as builder:
        _fill(builder, manifest, lake, progress)
        chunk_count = builder.value("queries/current_chunk_count")
        embedding_count = builder.value("queries/embedding_count")
    try:
        _check(draft, settings)
        path = database_files.publish(draft)
        database_files.discard_replaced(lake.data_dir, settings.databases_kept)
    except BaseException:
        database_files.discard(draft)
        raise
    return LoadReport(
        database=path.name,
        chunk_count=chunk_count,
        embedding_count=embedding_count,
        size_bytes=path.stat().st_size,
        seconds=time.monotonic() - started,
    )


def _check(draft: Path, settings: Settings) -> None:
    found = database.check(draft, memory_limit=settings.load_memory, threads=settings.threads)
    for name, rows in found.items():
        raise PublishError(name, f"for example {rows[0]}")


def _check_room(manifest: Manifest, lake: Lake) -> None:
    """Refuse to start where the new file and its spill may not fit.

    At 300,000 chunks and vectors of 256 numbers, with memory enough, the file came to 1.8 times the shards at
    most; ROOM_PER_BYTE leaves more than as much again for what DuckDB spills where memory is short.
    """
    chunks = lake.chunks_dir(manifest.chunking_fingerprint)
    embeddings = lake.embeddings_dir(str(manifest.model["model_id"]))
    shards = [*chunks.glob("*.parquet"), *embeddings.glob("*.parquet")]
    needed = ROOM_PER_BYTE * sum(shard.stat().st_size for shard in shards)
    published = database_files.published_path(lake.data_dir)
    if published is not None:
        needed = max(needed, 2 * published.stat().st_size)
    free = shutil.disk_usage(lake.data_dir).free
    if free < needed:
        raise PublishError("free space", f"{free:,} bytes are free, {needed:,} may be needed")


def _fill(builder: database.Builder, manifest: Manifest, lake: Lake, progress: Progress) -> None:
    builder.run("schema")
    for name in embedded_text_macros(manifest.header):
        builder.run(name)
    for name in database.MACROS + database.VIEWS + database.PUBLIC_MACROS:
        builder.run(f"{'views' if name in database.VIEWS else 'macros'}/{name}")
    _insert_manifest(builder, manifest, lake)
    model_id = str(manifest.model["model_id"])
    evaluation_shards = _names(lake, lake.evaluations_dir, EVALUATION_SCHEMA)
    if evaluation_shards:
        builder.run("load/insert_evaluations", evaluation_shards=evaluation_shards)
    snapshot_shards = [str(lake.snapshot_path(snapshot.snapshot_id)) for snapshot in manifest.snapshots]
    chunk_shards = _names(lake, lake.chunks_dir(manifest.chunking_fingerprint), CHUNK_SCHEMA)
    embedding_shards = _names(
        lake,
        lake.embeddings_dir(model_id),
        embedding_schema(int(manifest.model["dimension"]), manifest.model["fingerprint"]),
    )
    if not snapshot_shards or not chunk_shards:
        return
    shards = {"snapshot_shards": snapshot_shards, "chunk_shards": chunk_shards}
    builder.run("load/insert_files", **shards)
    builder.run("load/insert_skipped_files", snapshot_shards=snapshot_shards)
    builder.run("load/insert_unreadable_files", snapshot_shards=snapshot_shards)
    builder.run("load/create_file_versions")
    builder.run("load/create_first_shards", chunk_shards=chunk_shards)
    builder.run("load/create_version_chunks", chunk_shards=chunk_shards)
    builder.run("load/insert_chunks", chunk_shards=chunk_shards)
    builder.run("load/insert_snapshot_chunks")
    for name in ("create_reference_files", "create_module_names"):
        builder.run(f"load/{name}")
    builder.run("load/insert_symbols", chunk_shards=chunk_shards)
    builder.run("load/insert_imports", chunk_shards=chunk_shards)
    for name in ("create_bindings", "create_reference_targets"):
        builder.run(f"load/{name}")
    builder.run("load/create_uses", chunk_shards=chunk_shards)
    builder.run("load/insert_symbol_references")
    _rank_files(builder)
    builder.run("load/compress_lightly")
    if embedding_shards:
        builder.run("load/create_embedded_hashes", embedding_shards=embedding_shards)
        builder.run("load/insert_embeddings", embedding_shards=embedding_shards)
    else:
        builder.run("load/create_no_embedded_hashes")
    builder.run("load/compress_as_fits")
    builder.run("load/insert_current_chunks")
    _index_words(builder, progress)


def _rank_files(builder: database.Builder) -> None:
    builder.run("load/create_file_nodes")
    starts = np.asarray(builder.columns("load/file_starts")["start"], np.float64)
    edges = builder.columns("load/file_edges")
    scores = page_rank(
        np.asarray(edges["source"], np.int64),
        np.asarray(edges["target"], np.int64),
        np.asarray(edges["weight"], np.float64),
        starts,
    )
    builder.run("load/insert_file_ranks", scores=scores.tolist())


def _index_words(builder: database.Builder, progress: Progress) -> None:
    chunk_count = int(builder.value("queries/current_chunk_count"))
    mean_length = float(builder.value("queries/mean_text_length"))
    progress.start(Stage.LOAD, "index words", chunk_count)
    builder.run("load/create_identifiers")
    builder.run("load/create_word_weights")
    for first in range(0, chunk_count, BATCH_CHUNKS):
        batch = {"first_ordinal": first, "end_ordinal": min(first + BATCH_CHUNKS, chunk_count)}
        builder.run("load/create_batch", mean_length=mean_length, **batch)
        builder.run("load/insert_identifiers")
        builder.run("load/insert_chunk_words", **batch)
        builder.run("load/insert_word_weights")
        progress.advance(Stage.LOAD, batch["end_ordinal"] - first)
    builder.run("load/insert_words")
    builder.run("load/insert_postings", chunk_count=chunk_count)
    progress.finish(Stage.LOAD)


def _names(lake: Lake, folder: Path, schema: pa.Schema) -> list[str]:
    return [str(path) for path in lake.shards(folder, schema)]


def _insert_manifest(builder: database.Builder, manifest: Manifest, lake: Lake) -> None:
    builder.insert(
        "repositories",
        _table(
            [
                (row.repository, row.location, row.remote_url, row.default_ref, row.indexed_at)
                for row in manifest.repositories
            ],
            repository=pa.string(),
            location=pa.string(),
            remote_url=pa.string(),
            default_ref=pa.string(),
            indexed_at=TIMESTAMP,
        ),
    )
    builder.insert(
        "snapshots",
        _table(
            [
                (
                    row.snapshot_id,
                    row.repository,
                    row.ref,
                    row.commit,
                    row.tree,
                    row.committed_at,
                    row.indexed_at,
                    row.run_id,
                    row.is_current,
                )
                for row in manifest.snapshots
            ],
            snapshot_id=pa.string(),
            repository=pa.string(),
            ref=pa.string(),
            commit=pa.string(),
            tree=pa.string(),
            committed_at=TIMESTAMP,
            indexed_at=TIMESTAMP,
            run_id=pa.string(),
            is_current=pa.bool_(),
        ),
    )
    model = manifest.model
    builder.insert(
        "models",
        _table(
            [
                (
                    model["model_id"],
                    model["name"],
                    model.get("revision"),
                    model["fingerprint"],
                    model["dimension"],
                    model.get("max_tokens"),
                    model.get("pooling"),
                    model.get("query_prompt"),
                    model.get("document_prompt"),
                )
            ],
            model_id=pa.string(),
            name=pa.string(),
            revision=pa.string(),
            fingerprint=pa.string(),
            dimension=pa.int32(),
            max_tokens=pa.int32(),
            pooling=pa.string(),
            query_prompt=pa.string(),
            document_prompt=pa.string(),
        ),
    )
    runs = [run for run in lake.manifests() if run.sequence < manifest.sequence] + [manifest]
    builder.insert(
        "runs",
        _table(
            [
                (
                    run.run_id,
                    run.sequence,
                    run.started_at,
                    run.finished_at,
                    run.state,
                    run.version,
                    run.chunking_fingerprint,
                    run.model.get("model_id"),
                    json.dumps(run.config, default=str, sort_keys=True),
                )
                for run in runs
            ],
            run_id=pa.string(),
            sequence=pa.int32(),
            started_at=TIMESTAMP,
            finished_at=TIMESTAMP,
            state=pa.string(),
            version=pa.string(),
            chunking_fingerprint=pa.string(),
            model_id=pa.string(),
            config=pa.string(),
        ),
    )
    builder.insert(
        "run_stages",
        _table(
            [
                (run.run_id, count.repository, count.stage.value, count.seconds, list(count.counts.items()))
                for run in runs
                for count in run.stages
            ],
            run_id=pa.string(),
            repository=pa.string(),
            stage=pa.string(),
            seconds=pa.float64(),
            counts=pa.map_(pa.string(), pa.float64()),
        ),
    )
    builder.insert(
        "failures",
        _table(
            [
                (run.run_id, row.repository, row.path, row.stage.value, row.error)
                for run in runs
                for row in run.failures
            ],
            run_id=pa.string(),
            repository=pa.string(),
            path=pa.string(),
            stage=pa.string(),
            error=pa.string(),
        ),
    )
    facts = {"schema_version": database.SCHEMA_VERSION}
    builder.insert(
        "index_facts",
        _table([(name, str(value)) for name, value in facts.items()], name=pa.string(), value=pa.string()),
    )


def _table(rows: list[tuple[Any, ...]], **columns: pa.DataType) -> pa.Table:
    arrays = [
        pa.array([row[index] for row in rows], type=kind) for index, kind in enumerate(columns.values())
    ]
    return pa.Table.from_arrays(arrays, names=list(columns))
