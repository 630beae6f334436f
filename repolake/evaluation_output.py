"""How an evaluation is shown: tables for people, JSON for programs, a picture of quality against cost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from repolake.evaluations import Evaluation, VariantResult, groups
from repolake.significance import Interval, PairedDifference

SHOWN = ("touched@5", "whole@5", "recall@10", "mrr@10", "ndcg@10", "file_recall@10", "file_ndcg@10")
GROUP_METRIC = "ndcg@10"


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print one table of variants with intervals, one by group of queries, one of chunk lengths."""
    first = evaluation.results[0]
    console.print(
        f"{evaluation.evaluation_id}: {len(first.queries)} queries of {evaluation.queries}, "
        "mean [95 % interval]; Δ against the first row, * significant"
    )
    console.print(_quality(evaluation))
    console.print(_by_group(evaluation))
    console.print(_lengths(evaluation))
    for sentence in evaluation.unresolved:
        console.print(f"unresolved label: {sentence}", style="yellow", markup=False)


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return the evaluation as JSON-ready values: per variant metrics by group, lengths, latency."""
    first = evaluation.results[0]
    return {
        "evaluation_id": evaluation.evaluation_id,
        "evaluated_at": evaluation.evaluated_at.isoformat(),
        "queries": evaluation.queries,
        "query_count": len(first.queries),
        "unresolved": list(evaluation.unresolved),
        "variants": [
            {
                "variant": asdict(result.variant),
                "name": result.variant.name,
                "model_id": result.model_id,
                "chunking_fingerprint": result.chunking_fingerprint,
                "median_milliseconds": result.median_milliseconds,
                "lengths": asdict(result.lengths) if result.lengths else None,
                "groups": {
                    name: {metric: _asdict(result.interval(metric, test)) for metric in _metrics(result)}
                    for name, test in groups(result)
                },
                "against_first": {
                    metric: _asdict(result.against(first, metric)) for metric in _metrics(result)
                },
            }
            for result in evaluation.results
        ],
    }


def write_picture(evaluation: Evaluation, path: Path, metric: str = GROUP_METRIC) -> None:
    """Draw each variant's quality (with interval) against its median latency; `path` ends in .png or .svg.

    Raises LakeWriteError when the file cannot be written.
    """
    from matplotlib.figure import Figure

    from repolake.errors import LakeWriteError

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for result in evaluation.results:
        interval = result.interval(metric)
        if interval is None:
            continue
        spread = [[interval.mean - interval.low], [interval.high - interval.mean]]
        axes.errorbar(
            [result.median_milliseconds],
            [interval.mean],
            yerr=spread,
            fmt="o",
            capsize=3,
            label=result.variant.name,
        )
    axes.set_xlabel("median latency of a search (ms)")
    axes.set_ylabel(f"{metric}, mean and 95 % interval")
    axes.set_title(f"{evaluation.queries}: quality against cost")
    axes.legend(fontsize="small")
    try:
        figure.savefig(path)
    except OSError as error:
        raise LakeWriteError(str(path), error.strerror or str(error)) from error


def _quality(evaluation: Evaluation) -> Table:
    first = evaluation.results[0]
    shown = [metric for metric in SHOWN if metric in _metrics(first)]
    table = Table("variant", *shown, "ms")
    for result in evaluation.results:
        cells = []
        for metric in shown:
            cell = _cell(result.interval(metric))
            if result is not first:
                cell += f"\n{_difference(result.against(first, metric))}"
            cells.append(cell)
        table.add_row(result.variant.name, *cells, f"{result.median_milliseconds:.0f}")
    return table


def _by_group(evaluation: Evaluation) -> Table:
    names = [name for name, _ in groups(evaluation.results[0])]
    table = Table(GROUP_METRIC, *(result.variant.name for result in evaluation.results))
    for name in names:
        cells = [
            _cell(result.interval(GROUP_METRIC, dict(groups(result))[name])) for result in evaluation.results
        ]
        table.add_row(name, *cells)
    return table


def _lengths(evaluation: Evaluation) -> Table:
    table = Table("chunks", "count", "median tokens", "p95", "max", "over the limit", "characters per token")
    seen = set()
    for result in evaluation.results:
        name, lengths = result.variant.index_name, result.lengths
        if name in seen or lengths is None:
            continue
        seen.add(name)
        table.add_row(
            name,
            f"{lengths.chunk_count:,}",
            str(lengths.median_tokens),
            str(lengths.p95_tokens),
            str(lengths.max_tokens),
            str(lengths.over_limit_count),
            f"{lengths.characters_per_token:.2f}",
        )
    return table


def _metrics(result: VariantResult) -> list[str]:
    return sorted({metric for query in result.queries for metric in query.metrics})


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}] n={interval.count}"


def _difference(difference: PairedDifference | None) -> str:
    if difference is None:
        return ""
    mark = "*" if difference.is_significant else ""
    return f"Δ {difference.mean:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]{mark}"


def _asdict(value: Interval | PairedDifference | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)
