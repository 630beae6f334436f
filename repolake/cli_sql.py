"""The `sql` command: writing results, and the interactive loop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from rich.console import Console

from repolake.cli_output import print_json, print_table, printable, to_json
from repolake.errors import LakeWriteError, RepolakeError

if TYPE_CHECKING:
    from repolake.search import Index

PROMPT = "repolake> "
CONTINUATION = "     ...> "
HELP = "End a statement with `;`. Tables: `show tables;`. Leave with Ctrl-D."


def write_table(table: pa.Table, table_format: str, output: Path | None, console: Console) -> None:
    """Write a result as `table`, `csv`, `json` or `parquet`, to a file or to standard output.

    Raises LakeWriteError when the file cannot be written.
    """
    if output is None:
        _write_text(table, table_format, console)
        return
    try:
        if table_format == "parquet":
            pyarrow.parquet.write_table(table, output)
        elif table_format == "csv":
            pyarrow.csv.write_csv(_flat(table), output)
        else:
            with output.open("w", encoding="utf-8") as file:
                if table_format == "json":
                    print_json(_rows(table), file)
                else:
                    print_table(table, Console(file=file, width=console.width, highlight=False))
    except OSError as error:
        raise LakeWriteError(str(output), error.strerror or str(error)) from error


def _write_text(table: pa.Table, table_format: str, console: Console) -> None:
    if table_format == "csv":
        sys.stdout.flush()
        pyarrow.csv.write_csv(_flat(table), sys.stdout.buffer)
    elif table_format == "json":
        print_json(_rows(table), sys.stdout)
    else:
        print_table(table, console)


def _rows(table: pa.Table) -> list[dict[str, object]]:
    names = table.column_names
    columns = [column.to_pylist() for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _flat(table: pa.Table) -> pa.Table:
    """Return the table with lists and structures as JSON text, which CSV lacks."""
    columns = []
    for column in table.columns:
        if pa.types.is_nested(column.type):
            columns.append(pa.array([None if v is None else str(to_json(v)) for v in column.to_pylist()]))
        else:
            columns.append(column)
    return pa.Table.from_arrays(columns, names=table.column_names)


def run_interactive(session: Index, console: Console) -> None:
    """Ask for statements until end of input; an error is shown and the next statement asked for."""
    import readline  # noqa: F401, PLC0415  # gives input() history and line editing

    console.print(HELP, style="dim")
    lines: list[str] = []
    while True:
        try:
            line = input(CONTINUATION if lines else PROMPT)
        except EOFError:
            console.print()
            return
        lines.append(line)
        statement = "\n".join(lines).strip()
        if not statement or statement.endswith(";"):
            lines = []
        if statement.endswith(";"):
            try:
                print_table(session.sql(statement), console)
            except RepolakeError as error:
                console.print(printable(str(error)), style="red", markup=False)
