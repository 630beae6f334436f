"""How long the texts of an index are that its model reads, counted by the model's own tokenizer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from repolake.cores import usable_core_count
from repolake.database import query_lake
from repolake.errors import IndexMissingError
from repolake.evaluations import LengthReport
from repolake.lake import Lake
from repolake.shards import CHUNK_SCHEMA
from repolake.tokens import whole_text_tokenizer

WINDOW_TEXTS = 4096


def length_report(data_dir: Path, limit_tokens: int) -> LengthReport:
    """Count every different text of the current snapshots; over the limit is what has more tokens than it.

    Raises IndexMissingError before the first run, DatabaseError when a shard cannot be read.
    """
    lake = Lake(data_dir)
    manifest = lake.latest_manifest()
    if manifest is None:
        raise IndexMissingError(str(data_dir))
    snapshot_shards = [str(lake.snapshot_path(s.snapshot_id)) for s in manifest.snapshots if s.is_current]
    folder = lake.chunks_dir(manifest.chunking_fingerprint)
    chunk_shards = [str(path) for path in lake.shards(folder, CHUNK_SCHEMA)]
    tokenizer = whole_text_tokenizer(Path(manifest.model["tokenizer_file"]))
    prompt = int(manifest.model["document_prompt_token_count"])
    counts: list[int] = []
    character_count = 0
    with query_lake(
        lake.data_dir / "scratch", threads=usable_core_count(), header=manifest.header
    ) as session:
        session.rows("queries/create_embedded_hashes")  # none: every text is wanted
        shards = {"snapshot_shards": snapshot_shards, "chunk_shards": chunk_shards}
        session.rows("queries/create_needed_texts", **shards)
        session.rows("queries/create_wanted_texts")
        for batch in session.stream("queries/missing_texts", WINDOW_TEXTS, chunk_shards=chunk_shards):
            texts = batch["text"].to_pylist()
            counts += [prompt + len(encoded) for encoded in tokenizer.encode_batch_fast(texts)]
            character_count += sum(map(len, texts))
    lengths = np.asarray(counts or [0])
    return LengthReport(
        text_count=len(counts),
        median_tokens=round(float(np.median(lengths))),
        p95_tokens=round(float(np.percentile(lengths, 95))),
        max_tokens=int(lengths.max()),
        over_limit_count=int((lengths > limit_tokens).sum()),
        characters_per_token=character_count / max(1, int(lengths.sum())),
    )
