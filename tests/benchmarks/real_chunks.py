"""Real chunks of a folder for the benchmarks of embedding: scanned and cut by the stages themselves."""

from __future__ import annotations

from pathlib import Path

from repolake.chunk import chunk, chunking_fingerprint
from repolake.cores import usable_core_count
from repolake.database import query_lake
from repolake.lake import Lake
from repolake.model_identity import ModelIdentity
from repolake.records import Chunker, ChunkReport, RepositorySpec, Snapshot
from repolake.scan import scan
from repolake.settings import Settings
from repolake.tokens import TokenCounter


def chunk_folder(folder: Path, model: ModelIdentity, settings: Settings) -> tuple[Lake, Snapshot, str]:
    """Scan and chunk a plain folder into `settings.data_dir`; return lake, snapshot, chunking fingerprint."""
    lake = Lake(settings.data_dir)
    budget = model.token_budget(settings.chunk_tokens)
    fingerprint = chunking_fingerprint(
        budget, TokenCounter.load(model.tokenizer_file).fingerprint, Chunker.AST
    )
    scanned = scan(
        RepositorySpec(str(folder)),
        None,
        lake=lake,
        run_id="benchmark",
        fingerprint=fingerprint,
        settings=settings,
        previous=None,
        allow_shrink=True,
    )
    [report] = chunk(
        [(scanned.snapshot, scanned.source)],
        lake=lake,
        fingerprint=fingerprint,
        tokenizer_file=model.tokenizer_file,
        budget=budget,
        chunker=Chunker.AST,
        settings=settings,
    )
    assert isinstance(report, ChunkReport)
    print(f"{folder}: {scanned.files_indexed} files, {report.chunks_new} new chunks", flush=True)
    return lake, scanned.snapshot, fingerprint


def embedded_texts(lake: Lake, snapshot: Snapshot, fingerprint: str) -> list[tuple[str, int]]:
    """Return every different embedded text of a snapshot with its token count."""
    chunk_shards = [str(path) for path in lake.chunks_dir(fingerprint).glob("*.parquet")]
    with query_lake(lake.data_dir / "scratch", threads=usable_core_count()) as session:
        session.rows("queries/create_embedded_hashes")
        session.rows(
            "queries/create_needed_texts",
            snapshot_shards=[str(lake.snapshot_path(snapshot.snapshot_id))],
            chunk_shards=chunk_shards,
        )
        session.rows("queries/create_wanted_texts")
        return [
            (row["text"], row["token_count"])
            for batch in session.stream("queries/missing_texts", 8192, chunk_shards=chunk_shards)
            for row in batch.to_pylist()
        ]
