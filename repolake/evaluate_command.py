"""The command `evaluate`: a grid of variants on labelled queries, and a gate against a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from repolake.commands import EXIT_FAILURES, DataDir, Json, app, make_console, make_settings
from repolake.errors import UsageError
from repolake.records import Chunker, Header, Kind, SearchMode


@app.command()
def evaluate(
    *,
    queries: Annotated[Path, typer.Argument(help="JSON Lines file of labelled queries.")],
    mode: Annotated[list[SearchMode] | None, typer.Option("--mode", help="Which arms; repeatable.")] = None,
    chunker: Annotated[list[Chunker] | None, typer.Option("--chunker", help="Repeatable.")] = None,
    model: Annotated[list[str] | None, typer.Option("--model", metavar="NAME", help="Repeatable.")] = None,
    chunk_tokens: Annotated[
        list[int] | None, typer.Option("--chunk-tokens", min=64, help="Budget of a chunk; repeatable.")
    ] = None,
    header: Annotated[
        list[Header] | None,
        typer.Option("--header", help="What of a file's path the model reads; repeatable."),
    ] = None,
    rerank: Annotated[
        list[str] | None,
        typer.Option(
            "--rerank", metavar="MODEL", help="Also let this cross-encoder order the hybrid; repeatable."
        ),
    ] = None,
    kind: Annotated[Kind | None, typer.Option("--kind", help="Also search this kind of file alone.")] = None,
    split: Annotated[str | None, typer.Option("--split", help="Only queries of this split.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="RUN", help="An earlier evaluation, or `latest`.")
    ] = None,
    max_drop: Annotated[
        float, typer.Option("--max-drop", min=0, help="Exit with 1 on a significant drop beyond this.")
    ] = 0.02,
    metric: Annotated[str, typer.Option("--metric", help="What the gate compares.")] = "ndcg@10",
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw quality against cost (.png, .svg).")
    ] = None,
    data_dir: DataDir = None,
    json: Json = False,
) -> None:
    """Measure retrieval on labelled queries: chunkers, models and modes side by side."""
    try:
        from repolake.evaluate import Grid
        from repolake.evaluate import evaluate as run
        from repolake.evaluations import write_evaluation
        from repolake.gate import dropped, find_baseline
    except ModuleNotFoundError as error:
        raise UsageError(
            f"evaluation needs {error.name}", "install it with `pip install 'repolake[evaluate]'`"
        ) from error
    from repolake.cli_output import print_json
    from repolake.cli_progress import terminal_progress
    from repolake.evaluation_output import check_picture, evaluation_json, print_evaluation, write_picture
    from repolake.lake import Lake

    settings = make_settings(data_dir)
    lake = Lake(settings.data_dir)
    earlier = find_baseline(lake, baseline, queries.name, metric) if baseline is not None else None
    if picture is not None:
        check_picture(picture)
    grid = Grid(
        modes=tuple(mode or (SearchMode.HYBRID,)),
        chunkers=tuple(chunker or ()),
        models=tuple(model or ()),
        kinds=(None, kind.value) if kind else (None,),
        chunk_tokens=tuple(chunk_tokens or ()),
        headers=tuple(header or (Header.NAME,)),
        rerankers=tuple(rerank or ()),
    )
    with terminal_progress(make_console(stderr=True)) as progress:
        evaluation = run(queries, grid, settings=settings, progress=progress, split=split)
    write_evaluation(lake, evaluation)
    if picture is not None:
        write_picture(evaluation, picture)
    if json:
        print_json(evaluation_json(evaluation))
    else:
        print_evaluation(evaluation, make_console())
    if earlier is not None:
        drops = dropped(evaluation, earlier, metric, max_drop)
        for drop in drops:
            typer.echo(f"repolake: {drop}", err=True)
        if drops:
            raise typer.Exit(EXIT_FAILURES)
