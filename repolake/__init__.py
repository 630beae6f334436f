"""repolake: a nightly ETL that turns git repositories into a code lake."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repolake.search import open_index as open_index

__version__ = "0.1.0"
__all__ = ["__version__", "open_index"]


def __getattr__(name: str) -> object:
    """Import `open_index` when it is asked for: DuckDB and Arrow take a while."""
    if name == "open_index":
        from repolake.search import open_index  # noqa: PLC0415

        return open_index
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
