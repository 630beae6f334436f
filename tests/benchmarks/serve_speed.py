"""Load `repolake serve` over an existing data folder: requests a second, latencies, publishing under load.

    python tests/benchmarks/serve_speed.py FOLDER [--chunks N] [--clients 1 8 32] [--seconds N] [--publish N]

With `--chunks`, a folder without an index is filled first: synthetic chunks, vectors of the model `fast`.
Clients ask different questions one after another over kept connections, from one process beside the server.
The data folder is only read: its database is copied into a temporary one. Prints Markdown rows.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import numpy as np
from search_speed import build_lake

from repolake import database_files
from repolake.lake import Lake
from repolake.load import load as make_index
from repolake.progress import SilentProgress
from repolake.settings import Settings

QUERIES = (
    "raw_decode",
    "HTTPConnection",
    "parse a date header",
    "how does the session handle redirects and strip the auth header",
    "where is the connection pool size configured",
    "retry with exponential backoff",
    "TypeError: unhashable type: 'list'",
    "percent-encode a query string",
    "open a file and read its lines",
    "get_value",
    "convert a column to float",
    "walk a directory tree",
    "thread pool executor shutdown",
    "self",
    "compress bytes with zlib",
    "validate the schema of a model",
)


class Load:
    """What the clients saw: seconds and status of each request, and which databases answered."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.databases: set[str] = set()

    async def client(self, address: str, mode: str, number: int, is_over: asyncio.Event) -> None:
        """Ask until told to stop; an answer that is no HTTP answer counts as broken."""
        host, port = address.removeprefix("http://").rsplit(":", 1)
        reader, writer = await asyncio.open_connection(host, int(port))
        for query in itertools.islice(itertools.cycle(QUERIES), number, None):
            if is_over.is_set():
                break
            started = time.perf_counter()
            target = f"/search?q={quote(query)}&mode={mode}"
            writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
                await reader.readexactly(int(headers["content-length"]))
            except (asyncio.IncompleteReadError, ConnectionError):
                self.statuses["broken"] += 1
                reader, writer = await asyncio.open_connection(host, int(port))
                continue
            self.seconds.append(time.perf_counter() - started)
            self.statuses[head.split(" ")[1]] += 1
            self.databases.add(headers.get("repolake-index", ""))
        writer.close()


async def load(address: str, mode: str, clients: int, during: float | list[str], data_dir: Path) -> Load:
    """Load the server for so many seconds, or while these databases are published one after another."""
    seen, is_over = Load(), asyncio.Event()
    tasks = [asyncio.create_task(seen.client(address, mode, i, is_over)) for i in range(clients)]
    if isinstance(during, float):
        await asyncio.sleep(during)
    else:
        current = database_files.published_path(data_dir)
        assert current is not None
        for name in during:
            path = data_dir / name
            await asyncio.to_thread(shutil.copyfile, current, path)
            database_files.switch(path)
            while path.stem not in seen.databases:
                await asyncio.sleep(0.1)
            database_files.discard(current)
            current = path
    is_over.set()
    await asyncio.gather(*tasks)
    return seen


def cpu_seconds(process_id: int) -> float:
    """Return the processor time that a process has used, system time included."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(") ", 1)[1].split(" ")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(label: str, clients: int, seconds: float, cpu: float, seen: Load) -> str:
    """Return one line of the table; `cpu` is the server's processor time in seconds."""
    p50, p95, p99 = (1000 * value for value in np.percentile(seen.seconds, [50, 95, 99]))
    errors = sum(count for status, count in seen.statuses.items() if status != "200")
    rate = len(seen.seconds) / seconds
    each = 1000 * cpu / sum(seen.statuses.values())
    return f"| {label} | {clients} | {rate:.1f} | {p50:.0f} | {p95:.0f} | {p99:.0f} | {each:.0f} | {errors} |"


def main() -> None:
    """Serve, load and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--chunks", type=int)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--modes", nargs="+", default=["hybrid"])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--publish", type=int, default=0)
    arguments = parser.parse_args()
    published = database_files.published_path(arguments.data_dir)
    if published is None and arguments.chunks:
        manifest = build_lake(arguments.data_dir, arguments.chunks, "fast")
        lake = Lake(arguments.data_dir)
        report = make_index(manifest, lake=lake, settings=Settings(), progress=SilentProgress())
        print(
            f"load {report.chunk_count} chunks: {report.seconds:.0f} s, {report.size_bytes / 1e6:.0f} MB",
            flush=True,
        )
        published = database_files.published_path(arguments.data_dir)
    assert published is not None, "nothing is published there"
    with tempfile.TemporaryDirectory(dir=arguments.data_dir.parent) as name:
        data_dir = Path(name)
        shutil.copyfile(published, data_dir / published.name)
        database_files.switch(data_dir / published.name)
        command = [sys.executable, "-m", "repolake", "serve", "--port", "0", "--data-dir", name]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ.copy())
        assert process.stderr is not None
        try:
            address = process.stderr.readline().split(" at ")[1].split(" ")[0].rstrip("/")
            asyncio.run(load(address, "hybrid", 2, 3.0, data_dir))  # warm
            print(
                "| what | clients | requests/s | p50 ms | p95 ms | p99 ms | server's CPU ms each | errors |"
            )
            print("|---|---|---|---|---|---|---|---|")
            for mode in arguments.modes:
                for clients in arguments.clients:
                    started, cpu = time.perf_counter(), cpu_seconds(process.pid)
                    seen = asyncio.run(load(address, mode, clients, arguments.seconds, data_dir))
                    cpu = cpu_seconds(process.pid) - cpu
                    print(row(mode, clients, time.perf_counter() - started, cpu, seen), flush=True)
            if arguments.publish:
                names = [f"index-bench-{i:03}.duckdb" for i in range(arguments.publish)]
                started, cpu = time.perf_counter(), cpu_seconds(process.pid)
                seen = asyncio.run(load(address, "hybrid", 8, names, data_dir))
                label, cpu = f"published {arguments.publish} times", cpu_seconds(process.pid) - cpu
                print(row(label, 8, time.perf_counter() - started, cpu, seen))
                print(f"statuses {dict(seen.statuses)}, databases that answered: {len(seen.databases)}")
            peak = Path(f"/proc/{process.pid}/status").read_text().split("VmHWM:")[1].split("\n")[0]
            print(f"peak memory of the server: {peak.strip()}")
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
