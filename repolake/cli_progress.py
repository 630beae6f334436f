"""Progress bars on a terminal: files, chunks and embeddings with rate and time left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from repolake.progress import Progress, SilentProgress
from repolake.records import Stage

UNITS = {Stage.SCAN: "files", Stage.CHUNK: "files", Stage.EMBED: "embeddings", Stage.LOAD: "steps"}


class _RateColumn(ProgressColumn):
    """Items a second."""

    def render(self, task: Task) -> Text:
        if not task.speed:
            return Text("")
        return Text(f"{task.speed:,.0f} {task.fields['unit']}/s", style="progress.data.speed")


class TerminalProgress:
    """One bar a stage; a stage that starts again for another repository goes on in its bar."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._tasks: dict[Stage, TaskID] = {}
        self._totals: dict[Stage, int] = {}

    def start(self, stage: Stage, label: str, total: int | None) -> None:
        """Begin the stage's bar, or lengthen it by `total`."""
        if stage not in self._tasks:
            self._tasks[stage] = self._bars.add_task(stage.value, total=None, unit=UNITS[stage], label=label)
            self._totals[stage] = 0
        task = self._tasks[stage]
        if total is None:
            self._bars.update(task, label=label)
        else:
            self._totals[stage] += total
            self._bars.update(task, label=label, total=self._totals[stage])

    def advance(self, stage: Stage, count: int) -> None:
        """`count` more are done."""
        self._bars.advance(self._tasks[stage], count)

    def finish(self, stage: Stage) -> None:
        """Fill the bar: what is left needed no work."""
        task = self._tasks.get(stage)
        if task is None:
            return
        done = max(self._totals[stage], int(self._bars.tasks[self._bars.task_ids.index(task)].completed))
        self._totals[stage] = done
        self._bars.update(task, total=done, completed=done)


@contextmanager
def terminal_progress(console: Console) -> Iterator[Progress]:
    """Yield bars on a terminal, silence elsewhere."""
    if not console.is_terminal:
        yield SilentProgress()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description:<6}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[label]}", markup=True),
    )
    with Bars(*columns, console=console) as bars:
        yield TerminalProgress(bars)
