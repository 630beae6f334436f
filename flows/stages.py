"""Runs the pipeline's stages as Prefect tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from prefect import Task, get_run_logger
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.futures import PrefectFuture
from prefect.tasks import exponential_backoff
from prefect.utilities.annotations import quote

from repolake.errors import RepolakeError
from repolake.records import Stage

P = ParamSpec("P")
T = TypeVar("T")

RETRIES = 3
FIRST_RETRY_SECONDS = 10


class PrefectExecutor:
    """Submits each stage call as one task run.

    Nothing is cached: content hashes are the one truth about what is done. Only errors that call
    themselves transient are tried again, after `first_retry_seconds`, twice that, and so on.
    """

    def __init__(self, first_retry_seconds: float = FIRST_RETRY_SECONDS) -> None:
        self._first_retry_seconds = first_retry_seconds

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> PrefectFuture[T]:
        """Start a task run; its arguments are handed over as they are, without a search for futures."""
        task: Task[..., T] = Task(
            function,
            name=getattr(function, "__name__", str(function)),
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=RETRIES,
            retry_delay_seconds=exponential_backoff(self._first_retry_seconds),
            retry_condition_fn=is_transient,
        )
        quoted = {name: quote(argument) for name, argument in kwargs.items()}
        return task.submit(*(quote(argument) for argument in args), **quoted)


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
