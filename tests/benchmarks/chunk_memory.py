"""Whether a process that cuts many files keeps its memory: the same files again, RSS after each round.

    python tests/benchmarks/chunk_memory.py [FOLDER] [--rounds 3]

Without a folder: the standard library of this Python.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import sysconfig
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chunk_samples import counter

from repolake.splitter import split
from repolake.text_decoding import file_text


def resident_mebibytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    paths = sorted(path for path in options.folder.rglob("*.py") if "site-packages" not in path.parts)
    print(f"tree-sitter {importlib.metadata.version('tree-sitter')}, {len(paths)} files")
    for number in range(1, options.rounds + 1):
        started = time.process_time()
        size = chunks = 0
        for path in paths:
            data = path.read_bytes()
            text = file_text(path.name, "python", data)
            if text is not None:
                chunks += len(split(text.text, "python", 256, counter()).chunks)
                size += len(data)
        seconds = time.process_time() - started
        print(
            f"round {number}: {size / 1e6:.1f} MB, {chunks} chunks,"
            f" {size / 1e6 / seconds:.2f} MB per CPU second, {resident_mebibytes():.0f} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
