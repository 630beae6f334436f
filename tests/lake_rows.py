"""Rows of a lake written by hand, for tests of the stages behind scan and chunk."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import md5, sha1
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from repolake.lake import Lake
from repolake.records import Snapshot
from repolake.shards import CHUNK_SCHEMA, SNAPSHOT_SCHEMA, ShardWriter

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FINGERPRINT = "f00d"


def add_snapshot(
    lake: Lake,
    snapshot_id: str,
    files: dict[str, list[str]],
    repository: str = "shop",
    token_counts: dict[str, int] | None = None,
) -> Snapshot:
    """Store a snapshot whose files consist of the given chunk texts, and their chunks; return it.

    `token_counts` are said of the chunks of a path, true or not. Chunks of a blob stored before are stored
    again, as two tasks at the same time may do.
    """
    rows = []
    chunks = []
    for path, texts in files.items():
        blob = sha1("\0".join(texts).encode(), usedforsecurity=False).hexdigest()
        rows.append({"path": path, "blob": blob, "language": "python", "kind": "source"})
        for ordinal, text in enumerate(texts):
            chunks.append(
                {
                    "blob": blob,
                    "language": "python",
                    "ordinal": ordinal,
                    "symbol": f"part{ordinal}",
                    "symbol_kind": "function",
                    "signature": text.split("\n")[0],
                    "signature_token_count": 4,
                    "is_continuation": False,
                    "token_count": (token_counts or {}).get(path, 32 + len(text.split()) * 3),
                    "text": text,
                    "has_syntax_error": False,
                }
            )
    lake.write_snapshot(snapshot_id, pa.Table.from_pylist(rows, SNAPSHOT_SCHEMA))
    writer = ShardWriter(lake.chunks_dir(FINGERPRINT), CHUNK_SCHEMA)
    writer.add(pa.Table.from_pylist(chunks, CHUNK_SCHEMA))
    writer.flush()
    return snapshot(snapshot_id, repository)


def snapshot(snapshot_id: str, repository: str = "shop") -> Snapshot:
    """Return the record of a snapshot stored by `add_snapshot`."""
    return Snapshot(snapshot_id, repository, "main", "c0ffee", None, NOW, NOW, "run-1")


def stored_vectors(folder: Path) -> dict[str, NDArray[np.float32]]:
    """Return every stored vector by text_hash; fails if one hash is stored twice."""
    found: dict[str, NDArray[np.float32]] = {}
    for shard in sorted(folder.glob("*.parquet")):
        table = pq.read_table(shard)
        for text_hash, vector in zip(
            table["text_hash"].to_pylist(), table["embedding"].to_pylist(), strict=True
        ):
            assert text_hash not in found
            found[text_hash] = np.array(vector, np.float32)
    return found


def text_hash_of(path: str, ordinal: int, text: str) -> str:
    """Return the hash of a chunk's embedded text, computed apart from our SQL."""
    name = path.rsplit("/", 1)[-1]
    label = name if len(name) <= 24 else "…" + name[-23:]
    return md5(f"# {label} :: part{ordinal}\n{text}".encode(), usedforsecurity=False).hexdigest()
