"""The commands that look after a data folder: check, rebuild, rollback."""

from __future__ import annotations

from dataclasses import asdict

import typer

from repolake.commands import EXIT_FAILURES, DataDir, Json, Wait, app, make_console, make_settings


@app.command()
def check(data_dir: DataDir = None, json: Json = False) -> None:
    """Check the published index and every shard that it was made from; exit with 1 if something is wrong."""
    from repolake.cli_output import print_json, printable
    from repolake.soundness import check as check_all

    found = check_all(make_settings(data_dir))
    if json:
        print_json(asdict(found))
    else:
        for problem in found.problems:
            typer.echo(printable(f"{problem.where}: {problem.what}"))
        count = len(found.problems)
        state = f"{count} problem{'s' if count > 1 else ''}" if count else "sound"
        typer.echo(f"{found.database} and {found.shard_count:,} shards: {state}")
    if found.problems:
        raise typer.Exit(EXIT_FAILURES)


@app.command()
def rebuild(wait: Wait = 0.0, data_dir: DataDir = None, json: Json = False) -> None:
    """Build and publish the index from the lake alone; no repository is read, nothing is embedded."""
    from repolake.cli_output import print_json
    from repolake.cli_progress import terminal_progress
    from repolake.publishing import rebuild as rebuild_from_lake

    settings = make_settings(data_dir)
    with terminal_progress(make_console(stderr=True)) as progress:
        report = rebuild_from_lake(settings=settings, wait_seconds=wait, progress=progress)
    if json:
        print_json(asdict(report))
    else:
        typer.echo(f"published {report.database} with {report.chunk_count:,} chunks, {report.seconds:.1f} s")


@app.command()
def rollback(wait: Wait = 0.0, data_dir: DataDir = None, json: Json = False) -> None:
    """Publish the index of the run before, until the next run publishes its own."""
    from repolake.cli_output import print_json
    from repolake.publishing import rollback as roll_back

    path = roll_back(settings=make_settings(data_dir), wait_seconds=wait)
    if json:
        print_json({"database": path.name})
    else:
        typer.echo(f"published {path.name}")
