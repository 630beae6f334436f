"""Time and memory of embedding many chunks, and of a run in which 1 % of the files changed.

    PYTHONPATH=. python tests/benchmarks/embed_many.py FOLDER [COUNT] [MODEL]

Cuts FOLDER, repeats its chunks under new blobs with a comment of their own until there are COUNT, embeds
them, embeds again with nothing changed, and again after 1 % of the blobs got new texts. Prints the rate, and
the resident memory at every tenth of the way: it must stay flat.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from real_chunks import chunk_folder

from repolake.embed import embed
from repolake.lake import Lake
from repolake.model_identity import resolve_model
from repolake.progress import SilentProgress
from repolake.records import Snapshot, Stage
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, ShardWriter

PAGE_BYTES = 4096


class MemoryProgress(SilentProgress):
    """Notes the resident memory at every tenth of the way."""

    def start(self, stage: Stage, label: str, total: int | None) -> None:  # noqa: ARG002
        self.total = total or 1
        self.done = 0
        self.seen: dict[int, int] = {}

    def advance(self, stage: Stage, count: int) -> None:  # noqa: ARG002
        self.done += count
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        self.seen.setdefault(10 * self.done // self.total, pages * PAGE_BYTES // 2**20)


def repeat(lake: Lake, snapshot: Snapshot, fingerprint: str, count: int, change: str) -> None:
    """Store copies of the snapshot's chunks, `count` in all; with a `change`, 1 % of the blobs are new."""
    files = pq.read_table(lake.snapshot_path(snapshot.snapshot_id))
    chunks = pa.concat_tables(pq.read_table(path) for path in lake.chunks_dir(fingerprint).glob("*.parquet"))
    chunks = chunks.filter(pc.greater_equal(chunks["ordinal"], 0))
    writer = ShardWriter(lake.chunks_dir("many"), CHUNK_SCHEMA)
    tables = []
    for number in range(-(-count // chunks.num_rows)):
        copied = chunks
        marks = _marks(chunks["blob"], number, change)
        text = pc.binary_join_element_wise(chunks["text"], marks, "\n# copy ")
        for name, column in (("blob", _renamed(chunks["blob"], number, change)), ("text", text)):
            copied = copied.set_column(copied.schema.get_field_index(name), CHUNK_SCHEMA.field(name), column)
        writer.add(copied.filter(pc.match_substring(copied["blob"], change)) if change else copied)
        column = _renamed(files["blob"], number, change)
        tables.append(files.set_column(files.schema.get_field_index("blob"), "blob", column))
    writer.flush()
    lake.write_snapshot("many", pa.concat_tables(tables))


def _marks(blobs: pa.ChunkedArray, number: int, change: str) -> pa.Array:
    """Return what marks each row's copy: its round and, for one blob in a hundred, the change."""
    return pa.array(
        f"{number}{change}" if change and int(blob or "0", 16) % 100 == number % 100 else f"{number}"
        for blob in blobs.to_pylist()
    )


def _renamed(blobs: pa.ChunkedArray, number: int, change: str) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(blobs, _marks(blobs, number, change), "-")


def main() -> None:
    folder = Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300_000
    model = resolve_model(sys.argv[3] if len(sys.argv) > 3 else "fast")
    with tempfile.TemporaryDirectory() as data_dir:
        settings = Settings(data_dir=Path(data_dir))
        lake, snapshot, fingerprint = chunk_folder(folder, model, settings)
        many = replace(snapshot, snapshot_id="many")
        for name, change in (("first", ""), ("unchanged", ""), ("1 % changed", "-new")):
            if name != "unchanged":
                repeat(lake, snapshot, fingerprint, count, change)
            progress = MemoryProgress()
            spent = time.process_time()
            [report] = embed(
                [many], lake=lake, fingerprint="many", model=model, settings=settings, progress=progress
            )
            print(
                f"{name}: {report.embeddings_new} new, {report.embeddings_reused} reused "
                f"in {report.seconds:.1f} s ({time.process_time() - spent:.1f} s of processor), "
                f"{report.embeddings_new / report.seconds:.0f}/s; "
                f"MiB by tenths: {list(progress.seen.values())}",
                flush=True,
            )


if __name__ == "__main__":
    main()
