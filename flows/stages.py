"""Runs the pipeline's stages as Prefect tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from prefect import Task, get_run_logger
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff
from prefect.utilities.annotations import quote

from repolake.errors import RepolakeError
from repolake.executor import Call, LocalCall
from repolake.git_command import begin_again, end_all
from repolake.groups import ScanRequest, scan_group
from repolake.records import RepositorySpec, ScanReport, Snapshot, Stage

P = ParamSpec("P")
T = TypeVar("T")

RETRIES = 3
FIRST_RETRY_SECONDS = 10


class PrefectExecutor:
    """Runs each stage call as one task run. Use as a context manager: nothing runs on after it.

    Scans run in the flow's task runner, some at a time, since they wait for remotes. Every other stage runs
    in the flow's own thread when its result is asked for: it uses all cores anyway, and there a signal or a
    time limit reaches it, so that it ends its own processes and its half-made files.

    Nothing is cached: content hashes are the one truth about what is done. Only errors that call
    themselves transient are tried again, after `first_retry_seconds`, twice that, and so on.
    """

    def __init__(self, first_retry_seconds: float = FIRST_RETRY_SECONDS) -> None:
        self._first_retry_seconds = first_retry_seconds

    def __enter__(self) -> Self:
        begin_again()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            end_all()  # threads that wait for git would keep this process alive

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        """Start a task run; its arguments are handed over as they are, without a search for futures."""
        name = getattr(function, "__name__", str(function))
        task: Task[..., T] = Task(
            function,
            name=name,
            task_run_name=_run_name(name, args[0] if args else None),
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=RETRIES,
            retry_delay_seconds=exponential_backoff(self._first_retry_seconds),
            retry_condition_fn=is_transient,
        )
        quoted = [quote(argument) for argument in args]
        named = {key: quote(argument) for key, argument in kwargs.items()}
        if function is scan_group:
            return task.submit(*quoted, **named)
        return LocalCall(lambda: task(*quoted, **named))


def _run_name(name: str, argument: object) -> str:
    """Return what a task run works on, such as `chunk_group: acme/shop and 41 more`."""
    items = argument if isinstance(argument, tuple) else ()
    return f"{name}: {listed([_repository(item) for item in items])}" if items else name


def _repository(item: object) -> str:
    match item:
        case ScanRequest(spec=spec):
            return spec.name or spec.location
        case (RepositorySpec(), ScanReport() as report):
            return report.repository.repository
        case Snapshot():
            return item.repository
    return str(item)


def listed(names: Sequence[str]) -> str:
    """Return the first name and how many more there are."""
    more = len(set(names)) - 1
    return f"{names[0]} and {more:,} more" if more > 0 else names[0]


def is_transient(_task: Task[..., Any], _run: TaskRun, state: State[Any]) -> bool:
    """Whether the error of a failed task run may be gone when it is tried again."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, RepolakeError) and error.is_transient


class LoggedProgress:
    """Writes the start of each stage of each repository to the run's log."""

    def start(self, stage: Stage, label: str, total: int | None) -> None:
        """Log what begins."""
        get_run_logger().info("%s %s: %s", stage.value, label, "…" if total is None else f"{total:,}")

    def advance(self, stage: Stage, count: int) -> None:
        """Say nothing: a log line per batch helps nobody."""

    def finish(self, stage: Stage) -> None:
        """Say nothing: the next stage's line follows."""
