"""Our embedding loop beside `SentenceTransformer.encode(batch_size=32)` in float32, in one run.

    PYTHONPATH=. python tests/benchmarks/embed_against_plain_encode.py FOLDER [COUNT]

Takes COUNT chunks of FOLDER (cut for the bundled model) and encodes them slice by slice, each slice by both
roads in turn, so that a noisy machine disturbs both alike. Prints chunks a second, their ratio, the cosine
between the two, and the peak memory of each road in a process of its own.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from real_chunks import chunk_folder, embedded_texts

from repolake.embedder import load_embedder
from repolake.encoding import batches
from repolake.model_identity import resolve_model
from repolake.settings import Settings

SLICE = 250
MEMORY_COUNT = 1000
Road = Callable[[list[str], NDArray[np.int32]], NDArray[np.float32]]


def our_road() -> Road:
    settings = Settings()
    embedder = load_embedder(resolve_model("minilm"), settings)
    embedder.calibrate([f"def f{n}(x): return x + {n}" for n in range(64)], [16] * 64)

    def encode(texts: list[str], counts: NDArray[np.int32]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), embedder.identity.dimension), np.float32)
        for rows in batches(counts, settings.batch_tokens):
            vectors[rows] = embedder.embed_documents([texts[row] for row in rows]).vectors
        return vectors

    return encode


def plain_road() -> Road:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(resolve_model("minilm").path, device="cpu")

    def encode(texts: list[str], _: NDArray[np.int32]) -> NDArray[np.float32]:
        vectors = model.encode(texts, batch_size=32, show_progress_bar=False)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return encode


def slices(chunks: list[tuple[str, int]]) -> Iterator[tuple[list[str], NDArray[np.int32]]]:
    for start in range(0, len(chunks), SLICE):
        part = chunks[start : start + SLICE]
        yield [text for text, _ in part], np.array([count for _, count in part], np.int32)


def compare(chunks: list[tuple[str, int]]) -> None:
    ours, plain = our_road(), plain_road()
    for road in (ours, plain):
        road(["x = 1"] * 64, np.full(64, 8, np.int32))
    spent = {"ours": 0.0, "plain": 0.0}
    cosines = []
    for texts, counts in slices(chunks):
        found = {}
        for name, road in (("plain", plain), ("ours", ours)):
            started = time.perf_counter()
            found[name] = road(texts, counts)
            spent[name] += time.perf_counter() - started
        cosines.append((found["ours"] * found["plain"]).sum(axis=1))
        cosine = np.concatenate(cosines)
        rates = {name: len(cosine) / seconds for name, seconds in spent.items()}
        print(
            f"{len(cosine)} chunks: ours {rates['ours']:.1f}/s, plain {rates['plain']:.1f}/s, "
            f"ratio {rates['ours'] / rates['plain']:.2f}, "
            f"cosine mean {cosine.mean():.5f}, least {cosine.min():.5f}",
            flush=True,
        )


def main() -> None:
    if sys.argv[1] == "--memory":
        road = our_road() if sys.argv[2] == "ours" else plain_road()
        for texts, counts in slices(json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))):
            road(texts, counts)
        print(
            f"{sys.argv[2]}: peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB",
            flush=True,
        )
        return
    with tempfile.TemporaryDirectory() as data_dir:
        settings = Settings(data_dir=Path(data_dir))
        chunks = embedded_texts(*chunk_folder(Path(sys.argv[1]), resolve_model("minilm"), settings))
        random.Random(0).shuffle(chunks)  # noqa: S311
        chunks = chunks[: int(sys.argv[2]) if len(sys.argv) > 2 else 5000]
        sample = Path(data_dir) / "chunks.json"
        sample.write_text(json.dumps(chunks[:MEMORY_COUNT]), encoding="utf-8")
        compare(chunks)
        for name in ("ours", "plain"):
            subprocess.run([sys.executable, __file__, "--memory", name, sample], check=True)


if __name__ == "__main__":
    main()
