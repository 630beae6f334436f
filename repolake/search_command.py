"""The command `search`."""

from __future__ import annotations

from typing import Annotated

import typer

from repolake.commands import DataDir, Json, app, make_console, make_settings
from repolake.records import Kind, SearchMode


@app.command()
def search(
    *,
    query: Annotated[str, typer.Argument(help="Words, an identifier, or a description of behaviour.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many results.")] = 10,
    mode: Annotated[SearchMode, typer.Option("--mode", help="Which arms answer.")] = SearchMode.HYBRID,
    repository: Annotated[str | None, typer.Option("--repository", help="Only this repository.")] = None,
    ref: Annotated[str | None, typer.Option("--ref", help="Only this ref; '*': all.")] = None,
    language: Annotated[str | None, typer.Option("--language", help="Only this language.")] = None,
    kind: Annotated[Kind | None, typer.Option("--kind", help="Only files for this purpose.")] = None,
    path: Annotated[
        str | None, typer.Option("--path", help="Only this file or, ending in /, this folder.")
    ] = None,
    path_glob: Annotated[
        str | None, typer.Option("--path-glob", help="Only paths like this; ** spans folders.")
    ] = None,
    symbol: Annotated[str | None, typer.Option("--symbol", help="Only this symbol.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only files changed since 2026-11-23, or for 7d."),
    ] = None,
    recent: Annotated[
        float,
        typer.Option("--recent", metavar="WEIGHT", min=0, help="How much newer files count; 1: as an arm."),
    ] = 0.0,
    references: Annotated[
        float,
        typer.Option(
            "--references",
            metavar="WEIGHT",
            min=0,
            help="How much chunks count that use what the query names; 1: as an arm.",
        ),
    ] = 0.0,
    select: Annotated[
        str | None,
        typer.Option(
            "--select",
            metavar="URL",
            help="Let a model at this OpenAI-compatible address pick files from the repository map.",
        ),
    ] = None,
    rerank: Annotated[
        str | None,
        typer.Option("--rerank", metavar="MODEL", help="Order the first results by this cross-encoder."),
    ] = None,
    rerank_depth: Annotated[
        int | None,
        typer.Option("--rerank-depth", metavar="N", min=1, help="How many are reranked. [default: 3 x k]"),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each result ranks.")] = False,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Search the published index."""
    from repolake.cli_output import print_hits, print_json
    from repolake.search import open_index

    filters = {
        "repository": repository,
        "ref": ref,
        "language": language,
        "kind": kind.value if kind else None,
        "path": path,
        "path_glob": path_glob,
        "symbol": symbol,
        "since": since,
    }
    settings = make_settings(data_dir)
    with open_index(settings.data_dir, settings=settings) as session:
        hits = session.search(
            query,
            k=k,
            mode=mode,
            recency=recent,
            references=references,
            select=select,
            rerank=rerank,
            rerank_depth=rerank_depth,
            **filters,
        )
    for note in hits.notes:
        typer.echo(f"repolake: {note}", err=True)
    if json:
        print_json([hit.columns() for hit in hits])
    elif hits:
        print_hits(hits, make_console(), explain=explain)
    else:
        typer.echo("no result", err=True)
