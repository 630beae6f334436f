"""Rows of a lake written by hand, for tests of the stages behind scan and chunk."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha1

import pyarrow as pa

from repolake.lake import CHUNK_SCHEMA, SNAPSHOT_SCHEMA, Lake, ShardWriter
from repolake.records import Snapshot

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FINGERPRINT = "f00d"


def add_snapshot(
    lake: Lake, snapshot_id: str, files: dict[str, list[str]], repository: str = "shop"
) -> Snapshot:
    """Store a snapshot whose files consist of the given chunk texts, and their chunks; return it."""
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
                    "token_count": 32 + len(text.split()) * 3,
                    "text": text,
                    "has_syntax_error": False,
                }
            )
    lake.write_snapshot(snapshot_id, pa.Table.from_pylist(rows, SNAPSHOT_SCHEMA))
    writer = ShardWriter(lake.chunks_dir(FINGERPRINT), CHUNK_SCHEMA)
    writer.add(pa.Table.from_pylist(chunks, CHUNK_SCHEMA))
    writer.flush()
    return Snapshot(snapshot_id, repository, "main", "c0ffee", None, NOW, NOW, "run-1")
