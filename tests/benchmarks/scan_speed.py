"""Times a scan at 1, 4 and 16 times the files, beside git and plain Python.

Run `python tests/benchmarks/scan_speed.py`.

Files are the sources of repolake itself over and over, each made unique by one line. The yardstick is
`git ls-files` and then every blob read through `git cat-file --batch`, or every file from disk, with nothing
decided about it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from made_repositories import commit, make_repository, scanned

FILES_PER_FOLDER = 50


def main() -> None:
    """Print one line a measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1250, help="files at 1x")
    parser.add_argument(
        "--source", type=Path, default=Path(__file__).parents[2], help="folder of the sample files"
    )
    arguments = parser.parse_args()
    sample = [path.read_bytes() for path in sorted(arguments.source.rglob("*.py")) if path.stat().st_size]
    print("times  files     MB  what                            seconds   CPU s   files/s    MB/s  peak MB")
    for times in (1, 4, 16):
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), sample, times, arguments.files * times)


def measure(folder: Path, sample: list[bytes], times: int, count: int) -> None:
    """Make a repository of `count` files and time everything on it."""
    repository = folder / "repository"
    size = 0
    for number in range(count):
        path = repository / f"p{number // FILES_PER_FOLDER:04}" / f"m{number:06}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = b"# %d\n" % number + sample[number % len(sample)]
        path.write_bytes(content)
        size += len(content)
    make_repository(repository, {})
    first = None

    def report(what: str, work: Callable[[], object]) -> object:
        started, cpu_before = time.perf_counter(), sum(os.times()[:4])
        result = work()
        seconds, cpu = time.perf_counter() - started, sum(os.times()[:4]) - cpu_before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{times:4}x {count:6} {size / 1e6:6.1f}  {what:30} {seconds:8.2f} {cpu:7.2f}"
            f" {count / seconds:9.0f} {size / 1e6 / seconds:7.1f} {peak:6}",
            flush=True,
        )
        return result

    report("git ls-files + cat-file --batch", lambda: _read_blobs(repository))
    report("git ls-files + open().read()", lambda: _read_files(repository))
    first = scanned(repository, folder / "data")
    report("scan of a commit", lambda: scanned(repository, folder / "other"))
    report("scan, nothing changed", lambda: scanned(repository, folder / "data", previous=first.snapshot))
    (repository / "p0000" / "m000000.py").write_text("X = 1\n")
    commit(repository, "one file")
    report(
        "scan after one changed file", lambda: scanned(repository, folder / "data", previous=first.snapshot)
    )
    report("scan of the work tree", lambda: scanned(repository, folder / "data", worktree=True))


def _read_blobs(repository: Path) -> int:
    listing = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-s", "-z"], check=True, capture_output=True
    ).stdout
    blobs = [line.split(b" ", 2)[1] for line in listing.split(b"\0") if line]
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    total = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for start in range(0, len(blobs), 256):
            batch = blobs[start : start + 256]
            process.stdin.write(b"".join(blob + b"\n" for blob in batch))
            process.stdin.flush()
            for _ in batch:
                total += len(process.stdout.read(int(process.stdout.readline().split()[2]) + 1)) - 1
        process.stdin.close()
    return total


def _read_files(repository: Path) -> int:
    listing = subprocess.run(
        ["git", "-C", str(repository), "ls-files", "-z"], check=True, capture_output=True
    ).stdout
    names = [name for name in listing.split(b"\0") if name]
    return sum(len((repository / os.fsdecode(name)).read_bytes()) for name in names)


if __name__ == "__main__":
    main()
