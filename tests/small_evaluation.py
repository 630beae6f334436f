"""The small label set on a part of Python's own library with the bundled model, and its recorded values.

    PYTHONPATH=. python tests/small_evaluation.py

records new values in tests/eval/small_baseline.json: after a change that is meant to move them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from repolake import pipeline
from repolake.evaluate import Grid, evaluate
from repolake.evaluations import Evaluation
from repolake.progress import SilentProgress
from repolake.records import RepositorySpec, SearchMode
from repolake.settings import Settings

EVAL = Path(__file__).parent / "eval"
BASELINE = EVAL / "small_baseline.json"
CORPUS = "stdlib-small@3.11"
METRICS = ("touched@5", "whole@5", "ndcg@10")


def evaluate_small(folder: Path) -> Evaluation:
    """Index the corpus with `fast` in `folder`; evaluate the questions by words, by meaning and by both."""
    command = [sys.executable, str(EVAL / "fetch_corpora.py"), str(folder), CORPUS]
    subprocess.run(command, capture_output=True, check=True)
    settings = Settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(folder / CORPUS), name=CORPUS)], settings=settings)
    grid = Grid(modes=tuple(SearchMode))
    return evaluate(EVAL / "small.jsonl", grid, settings=settings, progress=SilentProgress())


def recorded(evaluation: Evaluation) -> Evaluation:
    """Return the recorded values in the place of the evaluation's own."""
    known = json.loads(BASELINE.read_text(encoding="utf-8"))
    results = tuple(
        replace(
            result,
            queries=tuple(
                replace(query, metrics=known[result.variant.mode.value][query.query_id])
                for query in result.queries
            ),
        )
        for result in evaluation.results
    )
    return replace(evaluation, evaluation_id="the recorded run", results=results)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        evaluation = evaluate_small(Path(folder))
    values = {
        result.variant.mode.value: {
            query.query_id: {metric: round(query.metrics[metric], 4) for metric in METRICS}
            for query in result.queries
        }
        for result in evaluation.results
    }
    BASELINE.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
    for result in evaluation.results:
        print(result.variant.name, {metric: result.interval(metric) for metric in METRICS})  # noqa: T201


if __name__ == "__main__":
    main()
