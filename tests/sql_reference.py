"""The README's SQL reference, from the database's catalogue; `python tests/sql_reference.py` writes it."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import duckdb

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from lake_builder import File, LakeBuilder, Piece  # noqa: E402

from repolake import database  # noqa: E402
from repolake.load import load  # noqa: E402
from repolake.progress import SilentProgress  # noqa: E402
from repolake.search import FILTERS  # noqa: E402
from repolake.settings import Settings  # noqa: E402

SECTION = re.compile(
    r"(?<=<!-- sql reference: python tests/sql_reference.py -->\n).*?(?=<!-- end of the sql reference -->)",
    re.DOTALL,
)


def make_database(folder: Path) -> Path:
    """Build and publish a database of one chunk; return its file."""
    builder = LakeBuilder(folder)
    builder.add("r", [File("a.py", [Piece("def alpha(): ...", "alpha", "function", vector=(1, 0, 0))])])
    report = load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    return folder / report.database


def reference(path: Path) -> str:
    """Return the Markdown tables of a database's public macros, views and tables."""
    with duckdb.connect(str(path), read_only=True) as connection:
        macros = connection.execute(
            "select function_name, parameters, comment from duckdb_functions() "
            "where not internal and function_type in ('table_macro', 'macro') "
            "and list_contains($names, function_name) "
            "order by list_position($names, function_name)",
            {"names": list(database.PUBLIC_MACROS)},
        ).fetchall()
        objects = connection.execute(
            "select kind, name, objects.comment, list(column_name order by column_index) from ("
            "select 'view' as kind, view_name as name, comment, view_oid as oid "
            "from duckdb_views() where not internal "
            "union all select 'table', table_name, comment, table_oid from duckdb_tables()) as objects "
            "inner join duckdb_columns() as columns on columns.table_name = objects.name "
            "group by kind, name, objects.comment order by kind desc, min(oid)"
        ).fetchall()
    lines = ["| macro | gives |", "|---|---|"]
    lines += [f"| `{name}({_signature(parameters)})` | {comment} |" for name, parameters, comment in macros]
    for kind in ("view", "table"):
        lines += ["", f"| {kind} | holds | columns |", "|---|---|---|"]
        lines += [
            f"| `{name}` | {comment} | {', '.join(columns)} |"
            for found, name, comment, columns in objects
            if found == kind
        ]
    return "\n".join(lines) + "\n"


def _signature(parameters: list[str]) -> str:
    own = [name for name in parameters if name not in FILTERS]
    has_filters = set(FILTERS) <= set(parameters)
    return ", ".join([*(own if has_filters else parameters), *(["…filters"] if has_filters else [])])


if __name__ == "__main__":
    readme = ROOT / "README.md"
    with tempfile.TemporaryDirectory() as temporary:
        written = reference(make_database(Path(temporary)))
    readme.write_text(SECTION.sub(lambda _: written, readme.read_text(encoding="utf-8")), encoding="utf-8")
