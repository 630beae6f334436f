"""Flow `evaluate_retrieval`: measure an index on labelled queries, and fail on a significant drop.

Run it once with `python -m flows.evaluate QUERIES.jsonl`, or after each nightly run on the same data folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed, Failed

from flows.by_hand import run_by_hand
from flows.stages import LoggedProgress, PrefectExecutor
from repolake.evaluate import Grid, evaluate
from repolake.evaluations import Evaluation, latest_evaluation, write_evaluation
from repolake.gate import LATEST, Drop, dropped, find_baseline
from repolake.lake import Lake
from repolake.records import Chunker, Header, SearchMode
from repolake.settings import load_settings

SHOWN = ("touched@5", "whole@5", "recall@10", "ndcg@10")


@flow(name="evaluate_retrieval", persist_result=False)
def evaluate_retrieval(
    queries: Path,
    *,
    data_dir: Path | None = None,
    modes: tuple[SearchMode, ...] = (SearchMode.HYBRID,),
    chunkers: tuple[Chunker, ...] = (),
    models: tuple[str, ...] = (),
    chunk_tokens: tuple[int, ...] = (),
    headers: tuple[Header, ...] = (Header.NAME,),
    rerankers: tuple[str, ...] = (),
    split: str | None = None,
    baseline: str = LATEST,
    metric: str = "ndcg@10",
    max_drop: float = 0.02,
) -> State[Any]:
    """Evaluate as `repolake evaluate` does, store the result, and compare it with a baseline.

    The first evaluation of a label file has nothing to be compared with `latest`, and says so. Ends
    Completed, or Failed when `metric` of a variant fell significantly by more than `max_drop`.
    """
    settings = load_settings(data_dir=data_dir)
    lake = Lake(settings.data_dir)
    is_first = baseline == LATEST and latest_evaluation(lake, queries.name) is None
    earlier = None if is_first else find_baseline(lake, baseline, queries.name, metric)
    grid = Grid(
        modes=modes,
        chunkers=chunkers,
        models=models,
        chunk_tokens=chunk_tokens,
        headers=headers,
        rerankers=rerankers,
    )
    with PrefectExecutor() as executor:
        evaluation = executor.submit(
            evaluate, queries, grid, settings=settings, progress=LoggedProgress(), split=split
        ).result()
    write_evaluation(lake, evaluation)
    drops = [] if earlier is None else dropped(evaluation, earlier, metric, max_drop)
    description = _description(evaluation, earlier, drops)
    create_table_artifact(key="repolake-evaluation", table=_rows(evaluation), description=description)
    return Failed(message=description) if drops else Completed(message=description)


def _rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    rows = []
    for result in evaluation.results:
        row: dict[str, Any] = {"variant": result.variant.name}
        for metric in SHOWN:
            found = result.interval(metric)
            row[metric] = f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]" if found else ""
        rows.append({**row, "milliseconds": round(result.median_milliseconds)})
    return rows


def _description(evaluation: Evaluation, earlier: Evaluation | None, drops: list[Drop]) -> str:
    if earlier is None:
        outcome = "the first of this label file: nothing to compare with"
    elif drops:
        outcome = "; ".join(str(drop) for drop in drops)
    else:
        outcome = f"no significant drop since {earlier.evaluation_id}"
    unresolved = f"; {len(evaluation.unresolved)} labels do not resolve" if evaluation.unresolved else ""
    return f"evaluation {evaluation.evaluation_id} of {evaluation.queries}: {outcome}{unresolved}"


if __name__ == "__main__":
    run_by_hand(evaluate_retrieval, Path(sys.argv[1]))
