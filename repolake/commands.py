"""The commands of the command line. What takes long to import is imported by the command that needs it."""

# `repolake --help` answers at once only because of the imports inside the commands

from __future__ import annotations

import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from repolake.errors import UsageError
from repolake.records import Chunker, RepositorySpec

if TYPE_CHECKING:
    from rich.console import Console

    from repolake.settings import Settings

EXIT_FAILURES = 1

app = typer.Typer(
    name="repolake",
    help="Turn git repositories into a code lake: Parquet, DuckDB, BM25 and vectors in plain SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class TableFormat(StrEnum):
    """How `sql` writes its result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", help="Folder of the lake and the index. [default: .repolake]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Wait = Annotated[
    float, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long for another run to end.")
]


def _version(value: bool) -> None:
    if value:
        from repolake import __version__

        typer.echo(f"repolake {__version__}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Turn git repositories into a code lake: Parquet, DuckDB, BM25 and vectors in plain SQL."""


@app.command()
def index(
    *,
    locations: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH_OR_URL]...", help="Repositories or folders; without any, all that the lake knows."
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="Make the lake equal to the list in this TOML file."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the repository in the index.")] = None,
    ref: Annotated[list[str] | None, typer.Option("--ref", help="Branch, tag or commit; repeatable.")] = None,
    worktree: Annotated[
        bool, typer.Option("--worktree", help="Index the files on disk instead of a commit.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="NAME", help="minilm, fast, or a sentence-transformers name or path."
        ),
    ] = None,
    chunker: Annotated[
        Chunker | None, typer.Option("--chunker", help="Cut along the syntax, or in fixed windows.")
    ] = None,
    allow_shrink: Annotated[
        bool, typer.Option("--allow-shrink", help="Accept a folder that lost most of its files.")
    ] = False,
    wait: Wait = 0.0,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Scan, chunk, embed and load repositories, and publish the index."""
    specs = _specs(locations or [], config, name, tuple(ref or ()), worktree)
    settings = make_settings(data_dir, model=model)
    from repolake import pipeline
    from repolake.cli_output import print_json, print_run, run_json
    from repolake.cli_progress import terminal_progress

    with terminal_progress(make_console(stderr=True)) as progress:
        report = pipeline.index(
            specs,
            settings=settings,
            chunker=chunker,
            is_whole_list=config is not None,
            allow_shrink=allow_shrink,
            wait_seconds=wait,
            progress=progress,
        )
    if json:
        print_json(run_json(report))
    else:
        print_run(report, make_console())
    if report.has_new_failures:
        for failure in report.new_failures:
            typer.echo(f"repolake: {failure.repository} {failure.path}: {failure.error}", err=True)
        raise typer.Exit(EXIT_FAILURES)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="Name of the repository, as `status` shows it.")],
    wait: Wait = 0.0,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Forget a repository: publish an index without it."""
    from repolake import pipeline
    from repolake.cli_output import print_json
    from repolake.cli_progress import terminal_progress

    with terminal_progress(make_console(stderr=True)) as progress:
        report = pipeline.remove(name, settings=make_settings(data_dir), wait_seconds=wait, progress=progress)
    if json:
        print_json({"removed": name, "database": report.database, "chunks": report.chunk_count})
    else:
        typer.echo(f"removed {name}; published {report.database} with {report.chunk_count:,} chunks")


@app.command()
def plan(
    *,
    location: Annotated[str, typer.Argument(metavar="PATH", help="A repository or folder.")],
    ref: Annotated[str | None, typer.Option("--ref", help="Branch, tag or commit.")] = None,
    worktree: Annotated[bool, typer.Option("--worktree", help="Read the files on disk.")] = False,
    why: Annotated[
        str | None, typer.Option("--why", metavar="FILE", help="Name the rule that decides about this path.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model to estimate for.")
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Show what would be indexed and skipped, by rule, with estimated chunks, tokens and time."""
    from repolake.cli_output import print_json
    from repolake.cli_plan import plan_json, print_path, print_plan
    from repolake.cli_progress import terminal_progress
    from repolake.model_identity import model_from_settings
    from repolake.plan import plan as plan_run
    from repolake.status import tokens_per_second

    settings = make_settings(data_dir, model=model)
    identity = model_from_settings(settings)
    with terminal_progress(make_console(stderr=True)) as progress:
        found = plan_run(
            RepositorySpec(location, worktree=worktree),
            ref,
            settings,
            tokenizer_file=identity.tokenizer_file,
            budget=identity.token_budget(settings.chunk_tokens),
            tokens_per_second=tokens_per_second(settings.data_dir, identity.model_id),
            progress=progress,
        )
    if why is not None:
        decision = found.why(why)
        print_json(asdict(decision)) if json else print_path(decision, make_console())
    elif json:
        print_json(plan_json(found))
    else:
        print_plan(found, make_console())


@app.command()
def sql(
    query: Annotated[
        str | None, typer.Argument(help="One statement; without it, statements are asked for.")
    ] = None,
    table_format: Annotated[
        TableFormat | None,
        typer.Option("--format", help="Default: by the ending of FILE, else table."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.")
    ] = None,
    data_dir: DataDir = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Answer SQL from the published index, read-only; `search('...')` and `embed('...')` work too."""
    from repolake import cli_sql

    chosen = TableFormat.JSON if json else table_format or _format_of(output)
    if chosen is TableFormat.PARQUET and output is None:
        raise UsageError("Parquet is no text", "name a file with -o FILE")
    from repolake.search import open_index

    settings = make_settings(data_dir)
    with open_index(settings.data_dir, settings=settings) as session:
        if query is None and sys.stdin.isatty():
            cli_sql.run_interactive(session, make_console())
            return
        statement = sys.stdin.read() if query is None else query
        cli_sql.write_table(session.sql(statement), chosen.value, output, make_console())


@app.command()
def status(
    fail_if_stale: Annotated[
        float | None,
        typer.Option(
            "--fail-if-stale",
            metavar="HOURS",
            min=0,
            help="Exit with 1 if a repository was last indexed longer ago.",
        ),
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Show repositories, freshness, counts, skips by rule, the model, the last runs and failures."""
    from repolake.cli_output import print_json, print_status
    from repolake.status import read_status

    found = read_status(make_settings(data_dir).data_dir)
    if json:
        print_json(asdict(found))
    else:
        print_status(found, make_console())
    stale = found.stale(fail_if_stale) if fail_if_stale is not None else ()
    for name in stale:
        typer.echo(f"repolake: {name} was last indexed more than {fail_if_stale:g} hours ago", err=True)
    if stale:
        raise typer.Exit(EXIT_FAILURES)


@app.command()
def gc(
    purge_blob: Annotated[
        list[str] | None,
        typer.Option(
            "--purge-blob",
            metavar="ID",
            help="Remove this content (a git blob id) everywhere, for good; repeatable.",
        ),
    ] = None,
    wait: Wait = 0.0,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Remove what nothing needs any more: expired snapshots, orphan shards, old databases and runs."""
    from repolake.cli_output import print_garbage, print_json
    from repolake.cli_progress import terminal_progress
    from repolake.garbage import collect_garbage

    with terminal_progress(make_console(stderr=True)) as progress:
        report = collect_garbage(
            settings=make_settings(data_dir),
            purge_blobs=tuple(purge_blob or ()),
            wait_seconds=wait,
            progress=progress,
        )
    if json:
        print_json(asdict(report))
    else:
        print_garbage(report, make_console())


def _specs(
    locations: list[str], config: Path | None, name: str | None, refs: tuple[str, ...], worktree: bool
) -> tuple[RepositorySpec, ...]:
    if config is not None:
        if locations or name or refs or worktree:
            raise UsageError(
                "--config takes no PATH, --name, --ref or --worktree", "write them into the file"
            )
        from repolake.repository_list import read_repository_list

        return read_repository_list(config)
    if name is not None and len(locations) != 1:
        raise UsageError("--name needs exactly one PATH", "index one at a time, or use --config")
    if not locations and (refs or worktree):
        raise UsageError("--ref and --worktree need a PATH", "name the repository")
    if worktree and refs:
        raise UsageError("--worktree reads the files on disk, not a ref", "use one of --worktree and --ref")
    return tuple(RepositorySpec(location, name, refs, worktree) for location in locations)


def make_settings(data_dir: Path | None, **arguments: object) -> Settings:
    """Return the settings; arguments of the command win over the environment."""
    from repolake.settings import load_settings

    return load_settings(data_dir=data_dir, **arguments)


def _format_of(output: Path | None) -> TableFormat:
    ending = output.suffix.removeprefix(".").lower() if output is not None else ""
    return TableFormat(ending) if ending in set(TableFormat) else TableFormat.TABLE


def make_console(*, stderr: bool = False) -> Console:
    """Return a console that does not fold the lines of a pipe."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = 200  # a pipe has no width; rich would fold at 80 columns
    return console
