"""Time load and search on a lake of N synthetic chunks: the environment's own Python files, random vectors.

    python tests/benchmarks/search_speed.py 300000 --data-dir FOLDER [--compare]

Chunks beyond what is installed repeat earlier ones with some words changed. `--compare` adds cosine in
numpy, BM25 in the bm25s library and DuckDB's fts extension (packages bm25s and duckdb-extension-fts). Prints
median / 95th percentile and processor time in milliseconds, and whether one query gives one answer 100
times on 1 and 2 threads.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import random
import re
import resource
import statistics
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa

from repolake import database_files
from repolake.embedder import load_embedder
from repolake.lake import Lake
from repolake.load import load
from repolake.manifest import Manifest
from repolake.model_identity import resolve_model
from repolake.progress import SilentProgress
from repolake.records import Repository, Snapshot
from repolake.search import Index, open_index
from repolake.settings import Settings
from repolake.shards import CHUNK_SCHEMA, SNAPSHOT_SCHEMA, ShardWriter, embedding_schema

DIMENSION = 256  # as `fast` has
QUERIES = (
    "raw_decode",
    "HTTPAdapter",
    "parse http2 frame",
    "how does the session handle redirects and strip the auth header",
    "get value from self in the list for the next import not none",
    "where is the connection pool size configured",
    "retry with exponential backoff",
    "TypeError: unhashable type: 'list'",
    "convert a column to float",
    "self",
)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def texts() -> Iterator[tuple[str, str, str]]:
    """Yield path, symbol and text of crude chunks of installed Python files."""
    for name in ("stdlib", "platlib"):
        root = Path(sysconfig.get_path(name))
        for path in sorted(root.rglob("*.py")):
            try:
                text = path.read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                continue
            for part in re.split(r"\n(?=(?:    )?(?:async )?(?:def|class) )", text):
                symbol = re.match(r"\s*(?:async )?(?:def|class)\s+(\w+)", part)
                lines = part.split("\n")
                for first in range(0, len(lines), 30):
                    piece = "\n".join(lines[first : first + 30])[:1500]
                    if piece.strip():
                        yield str(path.relative_to(root)), symbol.group(1) if symbol else "<module>", piece


def varied() -> Iterator[tuple[str, str, str]]:
    """Yield chunks without end: later rounds rename a tenth of the words."""
    first = list(texts())
    yield from first
    for number in itertools.count(1):
        random_source = random.Random(number)  # noqa: S311
        for path, symbol, text in first:
            words = set(re.findall(r"[a-z_]{4,}", text))
            renamed = {word: f"{word}{number}" for word in words if random_source.random() < 0.1}
            changed = re.sub(
                r"[a-z_]{4,}", lambda match, renamed=renamed: renamed.get(match[0], match[0]), text
            )
            yield f"copy{number}/{path}", symbol, changed


def build_lake(data_dir: Path, count: int, model_name: str | None = None) -> Manifest:
    """Write a lake of `count` chunks and return its manifest; vectors are random, or a model's own."""
    lake = Lake(data_dir)
    settings = Settings(model=model_name or "fast")
    identity = resolve_model(model_name) if model_name else None
    dimension = identity.dimension if identity else DIMENSION
    fingerprint = identity.fingerprint if identity else "0" * 64
    model_id = identity.model_id if identity else "bench"
    schema = embedding_schema(dimension, fingerprint)
    chunks = ShardWriter(lake.chunks_dir("bench"), CHUNK_SCHEMA)
    vectors = ShardWriter(lake.embeddings_dir(model_id), schema)
    files: list[dict[str, object]] = []
    random_source = np.random.default_rng(0)
    hashes: dict[str, str] = {}
    rows = itertools.islice(varied(), count)
    for path, group in itertools.groupby(rows, key=lambda row: row[0]):
        pieces = list(group)
        blob = hashlib.sha1(repr((path, pieces)).encode(), usedforsecurity=False).hexdigest()
        files.append(
            {
                "path": path, "blob": blob, "size_bytes": sum(len(p[2]) for p in pieces),
                "line_count": sum(p[2].count("\n") + 1 for p in pieces), "language": "python",
                "kind": "test" if "test" in path else "source", "encoding": "utf-8",
            }
        )  # fmt: skip
        found, line, start = [], 1, 0
        for ordinal, (_, symbol, text) in enumerate(pieces):
            length = text.count("\n") + 1
            found.append(
                {
                    "blob": blob, "language": "python", "ordinal": ordinal, "symbol": symbol,
                    "symbol_kind": "function", "signature": text.split("\n", 1)[0],
                    "signature_token_count": 9, "is_continuation": False, "token_count": 99, "text": text,
                    "start_line": line, "end_line": line + length - 1, "start_byte": start,
                    "end_byte": start + len(text.encode()), "has_syntax_error": False,
                }
            )  # fmt: skip
            line, start = line + length, start + len(text.encode())
            name = path.rsplit("/", 1)[-1]
            label = name if len(name) <= 24 else "…" + name[-23:]
            embedded = f"# {label} :: {symbol}\n{text}"
            hashes[hashlib.md5(embedded.encode(), usedforsecurity=False).hexdigest()] = embedded
        chunks.add(pa.Table.from_pylist(found, CHUNK_SCHEMA))
    chunks.flush()
    for part in itertools.batched(sorted(hashes), 20_000) if sys.version_info >= (3, 12) else _parts(hashes):
        if identity:
            values = load_embedder(identity, settings).embed_documents([hashes[key] for key in part]).vectors
        else:
            values = random_source.standard_normal((len(part), dimension)).astype(np.float32)
            values /= np.linalg.norm(values, axis=1, keepdims=True)
        array = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), dimension)
        vectors.add(pa.Table.from_arrays([pa.array(part), array], schema=schema))
    vectors.flush()
    lake.write_snapshot("bench", pa.Table.from_pylist(files, SNAPSHOT_SCHEMA))
    return Manifest(
        run_id="bench",
        sequence=1,
        started_at=NOW,
        finished_at=NOW,
        state="complete",
        version="0",
        chunking_fingerprint="bench",
        model={
            "model_id": model_id,
            "name": model_name or "bench",
            "revision": identity.revision if identity else None,
            "fingerprint": fingerprint,
            "dimension": dimension,
        },
        config={},
        repositories=(Repository("bench", "/bench", None, None, "main", NOW),),
        snapshots=(Snapshot("bench", "bench", "main", "0" * 40, None, NOW, NOW, "bench"),),
    )


def _parts(hashes: dict[str, str]) -> Iterator[list[str]]:
    ordered = sorted(hashes)
    for first in range(0, len(ordered), 20_000):
        yield ordered[first : first + 20_000]


def milliseconds(call: Callable[[str], object], rounds: int = 3) -> str:
    """Return median and 95th percentile over all queries, each run `rounds` times after a first one.

    Then the median of the processor time, of all threads together, which a busy machine changes less.
    """
    taken, computed = [], []
    for query in QUERIES:
        call(query)
        for _ in range(rounds):
            started, used = time.perf_counter(), time.process_time()
            call(query)
            taken.append(1000 * (time.perf_counter() - started))
            computed.append(1000 * (time.process_time() - used))
    return (
        f"{statistics.median(taken):.0f} / {np.percentile(taken, 95):.0f}, "
        f"processor {statistics.median(computed):.0f} (load average {os.getloadavg()[0]:.1f})"
    )


def main() -> None:
    """Print load and query times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--compare", action="store_true", help="beside numpy, bm25s and DuckDB's fts")
    options = parser.parse_args()
    settings = Settings()
    if database_files.published_path(options.data_dir) is None:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # its memory is not the load's
            manifest = pool.submit(build_lake, options.data_dir, options.count).result()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        report = load(manifest, lake=Lake(options.data_dir), settings=settings, progress=SilentProgress())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"load {report.chunk_count} chunks: {report.seconds:.0f} s, "
            f"file {report.size_bytes / 1e9:.2f} GB, peak {peak:.1f} GB (before {before:.1f})",
            flush=True,
        )
    vector = np.random.default_rng(1).standard_normal(DIMENSION).astype(np.float32)
    vector /= np.linalg.norm(vector)
    with open_index(options.data_dir, settings=settings, embed_query=lambda _: vector.tolist()) as index:
        for mode in ("text", "vector", "hybrid"):
            print(mode, milliseconds(lambda query, mode=mode: index.search(query, mode=mode)), flush=True)
        by_sql = "select rank, path, symbol from search($query)"
        print("search() in SQL", milliseconds(lambda query: index.sql(by_sql, {"query": query})), flush=True)
        if options.compare:
            compare(index, vector)
    answers = set()
    for threads in (1, 2):
        one = Settings(threads=threads)
        with open_index(options.data_dir, settings=one, embed_query=lambda _: vector.tolist()) as index:
            for _ in range(100):
                answers.add(str(index.search(QUERIES[3], k=50)))
    print(f"one query 100 times on 1 and 2 threads: {len(answers)} answer(s)")


def compare(index: Index, vector: np.ndarray) -> None:
    """Print the same for cosine in numpy and BM25 in bm25s, both in memory."""
    import bm25s

    vectors = np.stack(index.sql("select embedding from main.embeddings").column(0).to_numpy())
    words = [row.split() for row in index.sql("select words from main.chunk_words").column(0).to_pylist()]
    retriever = bm25s.BM25()
    started = time.perf_counter()
    retriever.index(words, show_progress=False)
    print(f"bm25s index: {time.perf_counter() - started:.0f} s")
    print("numpy cosine", milliseconds(lambda _: np.argpartition(-(vectors @ vector), 10)[:10]))
    split = {
        query: index.sql("select main.split_words(?)", [query]).column(0)[0].as_py().split()
        for query in QUERIES
    }
    print("bm25s", milliseconds(lambda query: retriever.retrieve([split[query]], k=10, show_progress=False)))
    compare_fts(index.sql("select chunk_id, words from main.chunk_words"), split)


def compare_fts(rows: pa.Table, split: dict[str, list[str]]) -> None:
    """Print the same for DuckDB's fts extension, over the same words."""
    import duckdb
    import duckdb_extension_fts

    [extension] = Path(duckdb_extension_fts.__file__).parent.rglob("fts.duckdb_extension")
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(f"{folder}/fts.duckdb") as connection:
        connection.execute(f"load '{extension}'")
        connection.from_arrow(rows).create("chunk_words")
        started = time.perf_counter()
        connection.execute(
            "pragma create_fts_index('chunk_words', 'chunk_id', 'words', stemmer = 'none', "
            "stopwords = 'none', ignore = ' ', strip_accents = 0, lower = 0)"
        )
        print(f"fts index: {time.perf_counter() - started:.0f} s")
        statement = (
            "select chunk_id, score from (select chunk_id, fts_main_chunk_words.match_bm25(chunk_id, $words) "
            "as score from chunk_words) where score is not null order by score desc, chunk_id limit 10"
        )
        print(
            "fts",
            milliseconds(
                lambda query: connection.execute(statement, {"words": " ".join(split[query])}).fetchall()
            ),
        )


if __name__ == "__main__":
    main()
