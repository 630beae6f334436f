"""How the command line shows a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from repolake.cli_output import printable
from repolake.plan import PathPlan, PlanGroup, PlanReport

SHOWN_FOLDERS = 10


def plan_json(plan: PlanReport) -> dict[str, object]:
    """Return what `plan --json` prints: the estimates and groups, without the single paths."""
    return {key: value for key, value in asdict(plan).items() if key != "paths"}


def print_path(plan: PathPlan, console: Console) -> None:
    """Print the decision about one path."""
    if plan.error is not None:
        reason = f": {plan.error}"
    elif plan.skip_reason is not None:
        reason = f": {plan.skip_reason}, by the rule {plan.skip_rule}"
    else:
        reason = f" as {plan.language}, kind {plan.kind}"
    console.print(Text(printable(f"{plan.path} would be {plan.decision}{reason}")), soft_wrap=True)


def print_plan(plan: PlanReport, console: Console) -> None:
    """Print a plan: the sums, then groups, largest first."""
    commit = f" ({plan.commit[:10]})" if plan.commit else ""
    files = f"{plan.files_indexed:,} files would be indexed, {plan.files_skipped:,} skipped"
    sizes = f"about {plan.chunks:,} chunks and {plan.tokens:,} tokens of {plan.bytes_indexed:,} bytes"
    lines = [
        f"{plan.repository}@{plan.ref}{commit}: {files}, {plan.files_failed:,} cannot be read",
        f"{sizes}; {_time(plan.embedding_seconds)}",
        *(f"note: {note}" for note in plan.notes),
    ]
    console.print(Text(printable("\n".join(lines))), soft_wrap=True)
    for title, groups in (
        ("language", plan.by_language),
        ("kind", plan.by_kind),
        ("folder", plan.by_folder[:SHOWN_FOLDERS]),
    ):
        console.print()
        console.print(_table(title, groups))
    if plan.by_rule:
        table = Table("skipped as", "by rule", box=None, pad_edge=False, header_style="bold")
        table.add_column("files", justify="right")
        table.add_column("bytes", justify="right")
        for skip in plan.by_rule:
            names = (Text(printable(skip.skip_reason)), Text(printable(skip.skip_rule)))
            table.add_row(*names, f"{skip.files:,}", f"{skip.bytes:,}")
        console.print()
        console.print(table)


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "the time to embed them is unknown until this model has run here"
    if seconds < 120:
        return f"embedding would take about {seconds:.0f} s"
    return f"embedding would take about {seconds / 60:.0f} minutes"


def _table(title: str, groups: Sequence[PlanGroup]) -> Table:
    table = Table(title, box=None, pad_edge=False, header_style="bold")
    for column in ("files", "bytes", "chunks", "tokens"):
        table.add_column(column, justify="right")
    for group in groups:
        counts = (group.files, group.bytes, group.chunks, group.tokens)
        table.add_row(Text(printable(group.name)), *(f"{count:,}" for count in counts))
    return table
