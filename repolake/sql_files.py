"""SQL statements by name: read from the wheel or from the checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from repolake.records import Header

_PACKAGE = Path(__file__).parent


def folder() -> Path:
    """Return the folder of all SQL files: inside the wheel, else beside the package in a checkout."""
    packed = _PACKAGE / "sql"
    return packed if packed.is_dir() else _PACKAGE.parent / "sql"


@cache
def read(name: str) -> str:
    """Return one file's statement, such as `queries/missing_texts`."""
    return (folder() / f"{name}.sql").read_text(encoding="utf-8")


def embedded_text_macros(header: Header) -> tuple[str, str]:
    """Return the names of the statements that define `embedded_text` with this header, in their order."""
    return f"session/file_label_{header.value}", "session/embedded_text"


def names(kind: str) -> list[str]:
    """Return the names of all files of one kind, such as `checks`, in order."""
    return sorted(path.stem for path in (folder() / kind).glob("*.sql"))
