"""What reranking costs: the same queries without and with a cross-encoder, by how many it reads.

    python tests/benchmarks/rerank_speed.py DATA_DIR QUERIES.jsonl [MODEL]

Without MODEL, one of MiniLM's size is made: the bundled transformer under a head of random numbers, whose
order means nothing and whose cost is that of a trained one.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from repolake.model_source import find_model
from repolake.search import Index, open_index

QUERY_COUNT = 15
DEPTHS = (10, 20, 30, 40)


def make_cross_encoder(folder: Path) -> str:
    """Save a cross-encoder of MiniLM's size, reading 512 tokens; return its folder."""
    import torch
    from transformers import AutoTokenizer, BertForSequenceClassification

    torch.manual_seed(0)
    bundled = find_model("minilm", None).folder
    BertForSequenceClassification.from_pretrained(bundled, num_labels=1).save_pretrained(folder)
    AutoTokenizer.from_pretrained(bundled, model_max_length=512).save_pretrained(folder)
    return str(folder)


def measure(
    index: Index, queries: list[str], model: str | None, depth: int | None
) -> tuple[float, float, float]:
    """Return median and mean processor seconds of a query, and the mean count of pairs that were cut."""
    seconds, cut_counts = [], []
    started = time.process_time()
    for query in queries:
        before = time.perf_counter()
        hits = index.search(query, k=10, rerank=model, rerank_depth=depth)
        seconds.append(time.perf_counter() - before)
        cut_counts += [int(note.split(" ")[0]) for note in hits.notes if "were cut" in note] or [0]
    processor = (time.process_time() - started) / len(queries)
    return statistics.median(seconds), processor, statistics.mean(cut_counts)


def main() -> None:
    """Print one line a depth."""
    data_dir, label_file = sys.argv[1:3]
    lines = Path(label_file).read_text(encoding="utf-8").splitlines()
    queries = [json.loads(line)["query"] for line in lines][:QUERY_COUNT]
    with tempfile.TemporaryDirectory() as folder, open_index(data_dir) as index:
        model = sys.argv[3] if len(sys.argv) > 3 else make_cross_encoder(Path(folder) / "random-head")
        started = time.perf_counter()
        index.search(queries[0], rerank=model)
        print(f"load and first query {time.perf_counter() - started:.1f} s")
        for depth in (None, *DEPTHS):
            median, processor, cut = measure(index, queries, model if depth else None, depth)
            name = f"rerank {depth}" if depth else "hybrid alone"
            print(f"{name:14} {median * 1000:7.0f} ms, processor {processor * 1000:7.0f} ms, cut {cut:.1f}")


if __name__ == "__main__":
    main()
