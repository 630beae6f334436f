"""The chunk stage on real folders, with real worker processes."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from chunk_samples import TOKENIZER_FILE

from repolake.chunk import chunk, chunking_fingerprint
from repolake.errors import SettingsError, SourceError, WorkerStartError
from repolake.lake import Lake
from repolake.records import Chunker, ChunkReport, Snapshot, Source, SourceMode, Stage
from repolake.settings import load_settings
from repolake.shards import CHUNK_SCHEMA, SNAPSHOT_SCHEMA

FINGERPRINT = "f" * 12


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class World:
    """One lake and one folder of files, whose snapshot is written by hand."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "source"
        self.root.mkdir()
        self.lake = Lake(folder / "data")
        self.rows: list[dict[str, object]] = []

    def add(self, path: str, text: str | bytes, language: str = "python") -> None:
        data = text.encode() if isinstance(text, str) else text
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        row: dict[str, object] = dict.fromkeys(SNAPSHOT_SCHEMA.names)
        row |= {"path": path, "blob": blob_id(data), "size_bytes": len(data), "language": language}
        self.rows.append(row)

    def chunk(
        self,
        *,
        workers: int = 1,
        timeout: float = 60.0,
        budget: int = 256,
        tokenizer_file: Path = TOKENIZER_FILE,
        memory: int = 2 * 1024**3,
    ) -> ChunkReport:
        self.lake.write_snapshot("s", pa.Table.from_pylist(self.rows, schema=SNAPSHOT_SCHEMA))
        snapshot = Snapshot("s", "mine", "HEAD", "c", None, None, datetime.now(UTC), "run")
        [report] = chunk(
            [(snapshot, Source(str(self.root), SourceMode.FOLDER))],
            lake=self.lake,
            fingerprint=FINGERPRINT,
            tokenizer_file=tokenizer_file,
            budget=budget,
            chunker=Chunker.AST,
            settings=load_settings(workers=workers, chunk_timeout_seconds=timeout, chunk_memory_bytes=memory),
        )
        assert isinstance(report, ChunkReport)
        return report

    def stored(self, lake: Lake | None = None) -> list[dict[str, Any]]:
        lake = lake or self.lake
        shards = lake.shards(lake.chunks_dir(FINGERPRINT), CHUNK_SCHEMA)
        rows = [row for shard in shards for row in pq.read_table(shard).to_pylist()]
        return sorted(rows, key=lambda row: (row["blob"], row["language"], row["ordinal"]))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def long_source(name: str, count: int = 40_000) -> str:
    return "".join(f"{name}_{number} = [alpha, {number}, 'x{number:x}']\n" for number in range(count))


def children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_each_blob_and_language_is_cut_once_and_stored_with_exact_texts(world: World) -> None:
    world.add("a.py", "import os\n\n\ndef f(x):\n    return 'é'\n")
    world.add("copy/a.py", "import os\n\n\ndef f(x):\n    return 'é'\n")
    world.add("same.txt", "import os\n\n\ndef f(x):\n    return 'é'\n", "text")
    report = world.chunk()
    rows = world.stored()
    assert (report.blobs_chunked, report.chunks_new, report.failures) == (2, 3, ())
    assert [(row["language"], row["ordinal"], row["symbol"], row["text"]) for row in rows] == [
        ("python", 0, "<module>", "import os"),
        ("python", 1, "f", "def f(x):\n    return 'é'"),
        ("text", 0, "<module>", "import os\n\n\ndef f(x):\n    return 'é'"),
    ]
    assert (rows[1]["start_line"], rows[1]["end_line"], rows[1]["start_byte"]) == (4, 5, 12)


def test_a_second_run_cuts_nothing_and_starts_no_process(world: World) -> None:
    world.add("a.py", "x = 1\n")
    world.add("blank.py", "\n\n")
    assert world.chunk().blobs_chunked == 2
    before = world.stored()
    report = world.chunk()
    assert (report.blobs_chunked, report.chunks_new) == (0, 0)
    assert world.stored() == before
    assert [row["ordinal"] for row in before if row["text"] is None] == [-1]


def test_bytes_of_the_range_in_the_decoded_file_are_the_text(world: World) -> None:
    data = "# größe\n\ndef f():\n    pass\n".encode("utf-16")
    world.add("a.py", data)
    world.chunk()
    decoded = "# größe\n\ndef f():\n    pass\n"
    for row in world.stored():
        assert decoded.encode()[row["start_byte"] : row["end_byte"]].decode() == row["text"]


def test_any_number_of_workers_gives_the_same_chunks(tmp_path: Path) -> None:
    found = []
    for workers in (1, 3):
        (tmp_path / str(workers)).mkdir()
        world = World(tmp_path / str(workers))
        for number in range(12):
            world.add(f"m{number}.py", long_source(f"v{number}", 5_000))
        world.chunk(workers=workers)
        found.append(world.stored())
    assert found[0] == found[1]


def test_a_file_that_cannot_be_read_or_decoded_is_a_failure_and_tried_again(world: World) -> None:
    world.add("good.py", "x = 1\n")
    world.add("gone.py", "y = 2\n")
    world.add("noise.py", bytes(range(256)) * 8)
    (world.root / "gone.py").unlink()
    report = world.chunk()
    assert {(failure.path, failure.stage) for failure in report.failures} == {
        ("gone.py", Stage.CHUNK),
        ("noise.py", Stage.CHUNK),
    }
    assert [row["text"] for row in world.stored()] == ["x = 1"]
    (world.root / "gone.py").write_text("y = 2\n")
    assert [failure.path for failure in world.chunk().failures] == ["noise.py"]
    assert {row["text"] for row in world.stored()} == {"x = 1", "y = 2"}


def test_snapshots_chunked_together_share_blobs_and_a_vanished_one_costs_itself_alone(tmp_path: Path) -> None:
    shared, noise = b"x = 1\n", bytes(range(256)) * 8
    lake = Lake(tmp_path / "data")
    asked = []
    for name in ("gone", "shop", "blog"):
        (tmp_path / name).mkdir()
        world = World(tmp_path / name)
        world.add("shared.py", shared)
        world.add("noise.py", noise)
        world.add("own.py", f"{name} = 2\n")
        lake.write_snapshot(name, pa.Table.from_pylist(world.rows, schema=SNAPSHOT_SCHEMA))
        snapshot = Snapshot(name, name, "HEAD", "c", None, None, datetime.now(UTC), "run")
        asked.append((snapshot, Source(str(world.root), SourceMode.FOLDER)))
    (tmp_path / "gone" / "source").rename(tmp_path / "away")
    gone, shop, blog = chunk(
        asked,
        lake=lake,
        fingerprint=FINGERPRINT,
        tokenizer_file=TOKENIZER_FILE,
        budget=256,
        chunker=Chunker.AST,
        settings=load_settings(workers=1),
    )
    assert isinstance(gone, SourceError)
    assert isinstance(shop, ChunkReport)
    assert isinstance(blog, ChunkReport)
    assert (shop.blobs_chunked, shop.chunks_new, shop.bytes_chunked) == (2, 2, 6 + 9)
    assert (blog.blobs_chunked, blog.chunks_new, blog.bytes_chunked) == (1, 1, 9)
    for report, name in ((shop, "shop"), (blog, "blog")):
        assert [(failure.repository, failure.path) for failure in report.failures] == [(name, "noise.py")]
    assert {row["text"] for row in world.stored(lake)} == {"x = 1", "shop = 2", "blog = 2"}


def test_a_file_that_takes_too_long_costs_itself_alone(world: World) -> None:
    world.add("a.py", "x = 1\n")
    world.add("slow.py", long_source("v", 200_000))
    world.add("z.py", "y = 2\n")
    report = world.chunk(timeout=1.5)
    assert [(failure.path, failure.error) for failure in report.failures] == [
        ("slow.py", "cutting took longer than 1.5 seconds of processor time")
    ]
    assert {row["text"] for row in world.stored()} == {"x = 1", "y = 2"}
    assert children() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_is_killed_or_crashes_costs_one_file_and_leaves_no_process(
    world: World, number: signal.Signals
) -> None:
    world.add("long.py", long_source("v", 200_000))
    world.add("z.py", "y = 2\n")

    def end_first_child() -> None:
        while not (found := children()):
            time.sleep(0.01)
        while processor_seconds(found[0]) < 1.0:  # it has long started then, and is far from done
            time.sleep(0.01)
        os.kill(found[0], number)

    killer = threading.Thread(target=end_first_child)
    killer.start()
    report = world.chunk()
    killer.join()
    assert [failure.path for failure in report.failures] == ["long.py"]
    assert number.name in report.failures[0].error
    assert [row["text"] for row in world.stored()] == ["y = 2"]
    assert children() == []


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels do not count this memory")
def test_a_file_that_needs_more_memory_than_allowed_costs_itself_alone(world: World) -> None:
    world.add("a.py", "x = 1\n")
    world.add("large.py", long_source("v", 50_000))
    world.add("z.py", "y = 2\n")
    report = world.chunk(memory=128 * 1024**2)
    assert [failure.path for failure in report.failures] == ["large.py"]
    assert "128 MiB of memory" in report.failures[0].error
    assert {row["text"] for row in world.stored()} == {"x = 1", "y = 2"}
    assert world.chunk().failures == ()


SCRIPT = """\
import sys
from datetime import UTC, datetime
from pathlib import Path
from repolake.chunk import chunk
from repolake.lake import Lake
from repolake.records import Chunker, Snapshot, Source, SourceMode
from repolake.settings import Settings
print("started", flush=True)
data, source, tokenizer = map(Path, sys.argv[1:])
snapshot = Snapshot("s", "mine", "HEAD", "c", None, None, datetime.now(UTC), "run")
[report] = chunk(
    [(snapshot, Source(str(source), SourceMode.FOLDER))], lake=Lake(data), fingerprint="ffffffffffff",
    tokenizer_file=tokenizer, budget=256, chunker=Chunker.AST, settings=Settings(workers=2),
)
print(report.blobs_chunked, len(report.failures))
"""


def script(world: World, tmp_path: Path) -> subprocess.Popen[str]:
    path = tmp_path / "script.py"
    path.write_text(dedent(SCRIPT))
    world.lake.write_snapshot("s", pa.Table.from_pylist(world.rows, schema=SNAPSHOT_SCHEMA))
    root = str(Path(__file__).parents[1])
    return subprocess.Popen(
        [sys.executable, str(path), str(world.lake.data_dir), str(world.root), str(TOKENIZER_FILE)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=world.root,
        env={**os.environ, "PYTHONPATH": root},
    )


def test_a_script_without_a_main_guard_is_not_run_again(world: World, tmp_path: Path) -> None:
    # A file of that name in the current folder must not be imported by the workers either.
    world.add("tokenizers.py", "raise SystemExit('imported')\n")
    for number in range(8):
        world.add(f"m{number}.py", long_source(f"v{number}", 12_000))
    with script(world, tmp_path) as process:
        output, _ = process.communicate(timeout=300)
    assert output.split("\n") == ["started", "9 0", ""]


def test_workers_end_with_a_parent_that_was_killed(world: World, tmp_path: Path) -> None:
    for number in range(8):
        world.add(f"m{number}.py", long_source(f"v{number}", 12_000))
    with script(world, tmp_path) as process:
        deadline = time.monotonic() + 60
        tasks = Path(f"/proc/{process.pid}/task")
        workers: list[int] = []
        while not workers and time.monotonic() < deadline:
            workers = [int(pid) for task in tasks.glob("*/children") for pid in task.read_text().split()]
        process.kill()
    assert workers
    while any(Path(f"/proc/{pid}/cmdline").exists() for pid in workers):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_workers_that_cannot_start_are_one_error_for_the_run(world: World) -> None:
    for number in range(20):
        world.add(f"m{number}.py", "x = 1\n")
    broken = world.root / "tokenizer.json"
    broken.write_text("{}")
    before = children()
    with pytest.raises(WorkerStartError, match=r"no worker process starts.*Error"):
        world.chunk(workers=2, tokenizer_file=broken)
    assert children() == before
    assert world.stored() == []


def test_a_file_without_end_is_stopped_by_the_clock_even_if_it_uses_no_processor(world: World) -> None:
    # Stopped (SIGSTOP) a process uses no processor time, and its own alarms wait too.
    world.add("long.py", long_source("v", 200_000))
    world.add("z.py", "y = 2\n")

    def stop_first_child() -> None:
        while not (found := children()):
            time.sleep(0.01)
        time.sleep(2.0)
        os.kill(found[0], signal.SIGSTOP)

    stopper = threading.Thread(target=stop_first_child)
    stopper.start()
    report = world.chunk(timeout=2.5)
    stopper.join()
    assert [failure.path for failure in report.failures] == ["long.py"]
    assert [row["text"] for row in world.stored()] == ["y = 2"]
    assert children() == []


def test_a_budget_without_room_is_refused(world: World) -> None:
    world.add("a.py", "x = 1\n")
    with pytest.raises(SettingsError, match="40 tokens"):
        world.chunk(budget=40)


def test_the_fingerprint_depends_on_budget_tokenizer_and_chunker() -> None:
    found = {
        chunking_fingerprint(256, "t", Chunker.AST),
        chunking_fingerprint(512, "t", Chunker.AST),
        chunking_fingerprint(256, "u", Chunker.AST),
        chunking_fingerprint(256, "t", Chunker.FIXED),
    }
    assert len(found) == 4
    assert chunking_fingerprint(256, "t", Chunker.AST) in found
