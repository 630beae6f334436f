"""Whether retrieval has become significantly worse since an earlier evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from repolake.errors import UnknownNameError
from repolake.evaluations import Evaluation, Variant, latest_evaluation, read_evaluation
from repolake.lake import Lake
from repolake.metrics import METRICS
from repolake.significance import PairedDifference

LATEST = "latest"


@dataclass(frozen=True, slots=True)
class Drop:
    """One variant whose metric fell since the evaluation named `baseline_id`."""

    variant: Variant
    metric: str
    difference: PairedDifference
    baseline_id: str

    def __str__(self) -> str:
        fall = self.difference
        return (
            f"{self.variant.name}: {self.metric} fell by {-fall.mean:.3f} "
            f"[{-fall.high:.3f}, {-fall.low:.3f}] since {self.baseline_id}"
        )


def find_baseline(lake: Lake, name: str, queries: str, metric: str) -> Evaluation:
    """Return the evaluation to compare `metric` with: by id, or the `latest` one of the label file `queries`.

    Raises UnknownNameError when there is none, or several of that beginning, or no such metric.
    """
    if metric not in METRICS:
        raise UnknownNameError(f"there is no metric {metric!r}", f"name one of {', '.join(METRICS)}")
    if name != LATEST:
        return read_evaluation(lake, name)
    found = latest_evaluation(lake, queries)
    if found is None:
        raise UnknownNameError(f"{queries} was never evaluated here", "evaluate it once without a baseline")
    return found


def dropped(evaluation: Evaluation, baseline: Evaluation, metric: str, max_drop: float) -> list[Drop]:
    """Return the variants whose metric fell by more than `max_drop`, significantly, since the baseline.

    Raises UnknownNameError when the two share no variant, or no query with this metric: then nothing would
    be compared, and a gate that compares nothing must not pass.
    """
    before = {result.variant: result for result in baseline.results}
    shared = [result for result in evaluation.results if result.variant in before]
    if not shared:
        names = ", ".join(variant.name for variant in before)
        raise UnknownNameError(
            f"the baseline has none of these variants, only {names}", "evaluate one of them"
        )
    found = []
    for result in shared:
        difference = result.against(before[result.variant], metric)
        if difference is None:
            raise UnknownNameError(
                f"the baseline {baseline.evaluation_id} has no query with {metric!r} in common",
                "name an evaluation of the same label file",
            )
        if difference.mean < -max_drop and difference.is_significant:
            found.append(Drop(result.variant, metric, difference, baseline.evaluation_id))
    return found
