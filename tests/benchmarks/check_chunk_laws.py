"""Hold the laws of chunking against every file of real folders; ends with status 1 if one is broken.

    python tests/benchmarks/check_chunk_laws.py FOLDER… [--budget 256] [--every 1]

Files are decoded and named a language as a scan would do it; files over the size limit of scans are left out.
Times are of cutting alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chunk_samples import broken_laws, cut

from repolake.languages import language_of
from repolake.text_decoding import file_text

MAX_FILE_BYTES = 1_048_576


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--budget", type=int, default=256)
    parser.add_argument("--every", type=int, default=1, help="look at each n-th file only")
    options = parser.parse_args()
    is_sound = True
    for folder in options.folders:
        files: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        seconds: defaultdict[str, float] = defaultdict(float)
        broken: Counter[str] = Counter()
        paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        for path in paths[:: options.every]:
            data = path.read_bytes()
            language = language_of(path.name, data[:1024])
            text = file_text(path.name, language, data) if language and len(data) <= MAX_FILE_BYTES else None
            if language is None or text is None:
                continue
            started = time.process_time()
            chunks[language] += len(cut(text.text, language, options.budget))
            seconds[language] += time.process_time() - started
            found = broken_laws(text.text, language, options.budget)
            for law, count in found.items():
                print(f"{path}: {law} broken {count} times", flush=True)
            broken.update(found)
            files[language] += 1
            sizes[language] += len(data)
        is_sound = is_sound and not broken
        print(
            f"{folder.name}: {files.total()} files, {sizes.total() / 1e6:.1f} MB, {chunks.total()} chunks,",
            end=" ",
        )
        print(f"{sum(seconds.values()):.0f} s of cutting; violations: {dict(broken) or 0}")
        for language, count in files.most_common(8):
            speed = sizes[language] / 1e6 / max(seconds[language], 1e-9)
            print(f"  {language}: {count} files, {chunks[language]} chunks, {speed:.1f} MB/s")
        sys.stdout.flush()
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
