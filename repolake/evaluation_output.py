"""How an evaluation is shown: tables for people, JSON for programs, a picture of quality against cost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from repolake.errors import UsageError
from repolake.evaluations import Evaluation, VariantResult, groups
from repolake.records import SearchMode
from repolake.significance import Interval, PairedDifference

SHOWN = ("touched@5", "whole@5", "recall@10", "mrr@10", "ndcg@10", "file_ndcg@10")
GROUP_METRIC = "ndcg@10"
MARKERS = {SearchMode.HYBRID: "o", SearchMode.TEXT: "s", SearchMode.VECTOR: "^"}


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print one table of variants with intervals, one by group of queries, one of chunk lengths."""
    first = evaluation.results[0]
    count = len(first.queries)
    queries = f"{count} {'query' if count == 1 else 'queries'} of {evaluation.queries}"
    console.print(
        f"{evaluation.evaluation_id}: {queries}; mean [95 % interval]; Δ to the first row, * significant; "
        "every metric with --json"
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


def check_picture(path: Path) -> None:
    """Raise UsageError if no picture can be written to that path."""
    from matplotlib.figure import Figure

    known = Figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in known:
        raise UsageError(f"no picture can be written as {path.name!r}", "let the name end in .png or .svg")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}", "make it, or name a picture elsewhere")


def write_picture(evaluation: Evaluation, path: Path, metric: str = GROUP_METRIC) -> None:
    """Draw each variant's quality (with interval) against its median latency; `path` ends in .png or .svg.

    Raises UsageError when the file cannot be written.
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    check_picture(path)
    results = [(result, interval) for result in evaluation.results if (interval := result.interval(metric))]
    figure = Figure(figsize=(10, max(5.0, 1.0 + 0.25 * len(results))), layout="constrained")
    axes = figure.subplots()
    for number, (result, interval) in enumerate(results):
        axes.errorbar(
            [result.median_milliseconds],
            [interval.mean],
            yerr=[[interval.mean - interval.low], [interval.high - interval.mean]],
            fmt=MARKERS[result.variant.mode],
            color=colormaps["tab20"](number % 20),
            capsize=3,
            label=result.variant.name,
        )
    axes.set_xlabel("median latency of a search (ms)")
    axes.set_ylabel(f"{metric}, mean and 95 % interval")
    axes.set_title(f"{evaluation.queries}: quality against cost")
    figure.legend(loc="outside right upper", fontsize="small")
    try:
        figure.savefig(path)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror}", "the evaluation itself is in the lake"
        ) from error


def _quality(evaluation: Evaluation) -> Table:
    first = evaluation.results[0]
    shown = [metric for metric in SHOWN if metric in _metrics(first)]
    heads = [_with_count(metric, first.interval(metric), len(first.queries)) for metric in shown]
    table = Table("variant", *heads, "ms")
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
    first = evaluation.results[0]
    shown = [(name, test) for name, test in groups(first) if first.interval(GROUP_METRIC, test) is not None]
    heads = [_with_count(name, first.interval(GROUP_METRIC, test)) for name, test in shown]
    table = Table(GROUP_METRIC, *heads)
    for result in evaluation.results:
        table.add_row(result.variant.name, *(_cell(result.interval(GROUP_METRIC, test)) for _, test in shown))
    return table


def _lengths(evaluation: Evaluation) -> Table:
    heads = ("count", "median tokens", "p95", "max", "over the limit", "characters per token")
    table = Table("texts that the model reads", *heads)
    seen = set()
    for result in evaluation.results:
        name, lengths = result.variant.index_name, result.lengths
        if name in seen or lengths is None:
            continue
        seen.add(name)
        table.add_row(
            name,
            f"{lengths.text_count:,}",
            str(lengths.median_tokens),
            str(lengths.p95_tokens),
            str(lengths.max_tokens),
            str(lengths.over_limit_count),
            f"{lengths.characters_per_token:.2f}",
        )
    return table


def _with_count(name: str, interval: Interval | None, usual: int | None = None) -> str:
    """Return the head of a column, with how many queries it is about unless that is the usual number."""
    count = interval.count if interval is not None else 0
    return name if count == usual else f"{name}\nn={count}"


def _metrics(result: VariantResult) -> list[str]:
    return sorted({metric for query in result.queries for metric in query.metrics})


def _cell(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.mean:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _difference(difference: PairedDifference | None) -> str:
    if difference is None:
        return ""
    mark = "*" if difference.is_significant else ""
    return f"Δ{difference.mean:+.3f} [{difference.low:+.2f}, {difference.high:+.2f}]{mark}"


def _asdict(value: Interval | PairedDifference | None) -> dict[str, float] | None:
    return None if value is None else asdict(value)
