"""The command `export`: chunks for RAG, whole or since an earlier run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from repolake.commands import DataDir, app, make_settings
from repolake.records import ExportFormat

STANDARD_OUTPUT = Path("-")


@app.command()
def export(
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="File to write; `-`: standard output.")
    ],
    export_format: Annotated[
        ExportFormat | None,
        typer.Option("--format", help="Default: by the ending of FILE, else jsonl."),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="RUN", help="Only what changed since this run, and what to forget."),
    ] = None,
    data_dir: DataDir = None,
    json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Write the chunks of the default refs for RAG: ids, citation, text, metadata, vector."""
    from repolake.cli_output import print_json
    from repolake.export import export as run

    ending = output.suffix.removeprefix(".").lower()
    by_name = ExportFormat(ending) if ending in set(ExportFormat) else ExportFormat.JSONL
    report = run(
        None if output == STANDARD_OUTPUT else output,
        settings=make_settings(data_dir),
        export_format=export_format or by_name,
        since=since,
    )
    if json:
        print_json(asdict(report), None if report.file else typer.get_text_stream("stderr"))
        return
    what = f"{report.chunks:,} chunks" + (f" and {report.removed:,} removals" if report.since else "")
    sentence = f"exported {what} of run {report.run_id}; the next time: --since {report.run_id}"
    typer.echo(sentence, err=report.file is None)
