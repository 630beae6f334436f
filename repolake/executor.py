"""How the pipeline calls its stages: here, or through whatever offers `submit(...).result()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Call(Protocol[T_co]):
    """A submitted call."""

    def result(self) -> T_co:
        """Return what the function returned, or raise what it raised."""


class Executor(Protocol):
    """Runs stage functions. Arguments and results are small and picklable: paths and reports."""

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        """Start `function(*args)` and return at once."""


class LocalCall(Generic[T]):
    """A call that runs when its result is asked for."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function

    def result(self) -> T:
        """Call the function: return what it returns, raise what it raises."""
        return self._function()


class LocalExecutor:
    """Runs each call in this process, when its result is asked for: one after the other."""

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> LocalCall[T]:
        """Keep the call until its result is asked for."""
        return LocalCall(lambda: function(*args, **kwargs))
