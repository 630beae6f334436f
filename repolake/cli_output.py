"""What the command line prints: search hits, run summaries, tables, JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from repolake.records import GarbageReport, RunReport, SearchHit

if TYPE_CHECKING:
    import pyarrow as pa

    from repolake.status import Status

MAX_EXACT_JSON_INTEGER = 2**53
SNIPPET_LINES = 8
ID_COLUMNS = frozenset({"chunk_id"})

# Text of a repository must not drive the terminal: no control characters, no marks of text direction.
_UNSAFE = {
    code: "\N{REPLACEMENT CHARACTER}"
    for code in (*range(0x20), 0x7F, *range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
} | {ord("\r"): ""}


def printable(text: str) -> str:
    """Return the text without characters that would drive a terminal."""
    return text.translate(_UNSAFE)


def print_json(value: object, file: TextIO | None = None) -> None:
    """Write one JSON value, by default to standard output; see `to_json`."""
    out = file or sys.stdout
    json.dump(to_json(value), out, ensure_ascii=False, indent=2, allow_nan=False)
    out.write("\n")


def to_json(value: object, name: str = "") -> object:
    """Return the value in types that JSON has; `name` is the key that it stands under.

    Ids and integers beyond 2^53 become decimal strings, times ISO 8601, NaN and infinities null.
    """
    if isinstance(value, Mapping):
        return {str(key): to_json(entry, str(key)) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(entry, name) for entry in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if name in ID_COLUMNS or abs(value) > MAX_EXACT_JSON_INTEGER else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, str)):
        return value
    return value.isoformat() if isinstance(value, (datetime, date)) else str(value)


def run_json(report: RunReport) -> dict[str, object]:
    """Return what `index --json` prints."""
    return {
        "run_id": report.run_id,
        "repositories": [
            {
                **{key: value for key, value in asdict(entry).items() if key != "failures"},
                "failures": [
                    {"path": failure.path, "stage": failure.stage.value, "error": failure.error}
                    for failure in entry.failures
                ],
            }
            for entry in report.repositories
        ],
        "seconds": {stage: round(seconds, 3) for stage, seconds in report.seconds.items()},
        "notes": list(report.notes),
    }


def print_run(report: RunReport, console: Console) -> None:
    """Print the summary of a run."""
    table = Table("repository", "ref", "commit", box=None, pad_edge=False, header_style="bold")
    for column in ("files", "skipped", "chunks", "new chunks", "new vectors", "reused", "failures"):
        table.add_column(column, justify="right")
    for entry in report.repositories:
        counts = (
            entry.files_indexed,
            entry.files_skipped,
            entry.chunks,
            entry.chunks_new,
            entry.embeddings_new,
            entry.embeddings_reused,
            len(entry.failures),
        )
        names = (entry.repository, entry.ref or "-", (entry.commit or "-")[:10])
        table.add_row(*map(_cell, names), *(f"{count:,}" for count in counts))
    console.print(table)
    for note in report.notes:
        console.print(Text(f"note: {printable(note)}"), soft_wrap=True)
    old = set(report.failures) - set(report.new_failures)
    for failure in report.failures:
        mark = "failed again" if failure in old else "failed"
        sentence = f"{mark}: {failure.repository} {failure.path} ({failure.stage.value}): {failure.error}"
        console.print(Text(printable(sentence), style="yellow"), soft_wrap=True)
    seconds = " · ".join(f"{stage} {value:.1f} s" for stage, value in report.seconds.items())
    state = (
        "nothing changed; the published index stays"
        if report.is_unchanged
        else f"published {report.database}"
    )
    console.print(Text(f"{state}\n{seconds}"), soft_wrap=True)


def print_hits(hits: Sequence[SearchHit], console: Console, *, explain: bool) -> None:
    """Print hits for reading: path:lines, symbol, score, then the beginning of the text."""
    for hit in hits:
        place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
        head = Text.assemble(
            (f"{hit.rank:>2}. ", "dim"),
            (printable(place), "bold cyan"),
            "  ",
            (printable(hit.symbol or ""), "bold green"),
            (f"  {hit.score:.4f}  {printable(hit.repository)}@{printable(hit.ref)}", "dim"),
        )
        console.print(head, soft_wrap=True)
        if explain:
            console.print(Text(f"    {explanation(hit)}", style="magenta"), soft_wrap=True)
        console.print(Text(_snippet(hit)), soft_wrap=True)
        console.print()


def explanation(hit: SearchHit) -> str:
    """Return why a hit ranks where it does."""
    parts = [f"kind {hit.kind}", f"language {hit.language}"]
    if hit.text_rank is not None:
        parts.append(f"text rank {hit.text_rank} (BM25 {hit.text_score:.3f})")
    if hit.vector_rank is not None:
        parts.append(f"vector rank {hit.vector_rank} (cosine {hit.vector_score:.3f})")
    elif hit.vector_score is not None:
        parts.append(f"cosine {hit.vector_score:.3f}")
    if hit.recency_rank is not None:
        parts.append(f"recency rank {hit.recency_rank}")
    parts += [f"{arm} rank {rank}" for arm, rank in (hit.arm_ranks or {}).items()]
    if hit.copy_count is not None:
        parts.append(f"copies elsewhere {hit.copy_count}")
    if hit.reranker is not None:
        parts.append(f"hybrid rank {hit.hybrid_rank} (score {hit.hybrid_score:.5f})")
        parts.append(f"reranked by {printable(hit.reranker)}")
    parts.append(f"score {hit.score:.5f}")
    return " · ".join(parts)


def _snippet(hit: SearchHit) -> str:
    """Return the beginning of the text; of a later piece, first the signature that it belongs to."""
    lines = printable(hit.text).rstrip("\n").split("\n")
    shown = lines[:SNIPPET_LINES]
    signature = printable(hit.signature or "").strip()
    if signature and signature.split("\n")[0] not in hit.text:
        shown = [signature.split("\n")[0], "…", *shown]
    if len(lines) > SNIPPET_LINES:
        shown.append(f"… {len(lines) - SNIPPET_LINES} more lines")
    return "\n".join(f"    {line}" for line in shown)


def print_status(status: Status, console: Console) -> None:
    """Print the state of a data folder."""
    size = f"{status.database_bytes / 1e6:,.1f} MB"
    lines = [
        f"data folder  {status.data_dir}",
        f"published    {f'{status.database} ({size})' if status.database else 'nothing yet'}",
        f"model        {status.model} ({status.model_id}, {status.dimension} dimensions)",
        f"chunker      {status.chunker}",
        f"lake         {status.lake_bytes / 1e6:,.1f} MB",
    ]
    console.print(Text(printable("\n".join(lines))), soft_wrap=True)
    table = Table("repository", "ref", "commit", "indexed", box=None, pad_edge=False, header_style="bold")
    for column in ("files", "skipped", "failed", "chunks"):
        table.add_column(column, justify="right")
    for entry in status.repositories:
        for ref in entry.refs:
            counts = (ref.files_indexed, ref.files_skipped, ref.files_failed, ref.chunks)
            age = f"{entry.hours:.1f} h ago"
            table.add_row(
                *map(_cell, (entry.repository, ref.ref, ref.commit[:10], age)),
                *(f"{count:,}" for count in counts),
            )
    console.print()
    console.print(table)
    if status.skips:
        skips = Table("skipped by rule", box=None, pad_edge=False, header_style="bold")
        skips.add_column("files", justify="right")
        for rule, count in status.skips.items():
            skips.add_row(_cell(rule), f"{count:,}")
        console.print()
        console.print(skips)
    runs = Table("run", "state", box=None, pad_edge=False, header_style="bold")
    for column in ("seconds", "MB read", "new chunks", "new vectors", "vectors/s", "database MB", "failures"):
        runs.add_column(column, justify="right")
    for run in status.runs:
        seconds = "" if run.seconds is None else f"{run.seconds:,.1f}"
        rate = "" if run.embeddings_per_second is None else f"{run.embeddings_per_second:,.0f}"
        runs.add_row(
            run.run_id,
            run.state,
            seconds,
            f"{run.bytes_chunked / 1e6:,.1f}",
            f"{run.chunks_new:,}",
            f"{run.embeddings_new:,}",
            rate,
            f"{run.database_bytes / 1e6:,.1f}" if run.database_bytes else "",
            f"{run.failures:,}",
        )
    console.print()
    console.print(runs)
    for failure in status.failures:
        sentence = f"{failure.repository} {failure.path} ({failure.stage.value}): {failure.error}"
        console.print(
            Text(printable(f"failed, tried again by the next run: {sentence}"), style="yellow"),
            soft_wrap=True,
        )
    if status.truncated_chunks:
        console.print(f"{status.truncated_chunks:,} chunks of these runs were longer than the model reads")


def print_garbage(report: GarbageReport, console: Console) -> None:
    """Print what gc removed and left."""
    removed = [f"{count:,} {kind}" for kind, count in sorted(report.removed.items())]
    lines = [
        f"removed {', '.join(removed) or 'nothing'}; wrote {report.shards_written:,} compacted shards",
        f"{report.bytes_freed / 1e6:,.1f} MB freed in {report.seconds:.1f} s",
        f"lake {report.lake_bytes / 1e6:,.1f} MB, databases {report.database_bytes / 1e6:,.1f} MB",
    ]
    lines += [f"purged {blob}; published {report.database}" for blob in report.purged]
    lines += [f"damaged and set aside, the next run makes it again: {name}" for name in report.damaged]
    console.print(Text(printable("\n".join(lines))), soft_wrap=True)


def print_table(table: pa.Table, console: Console) -> None:
    """Print a query's result as a table for reading."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for field in table.schema:
        is_number = str(field.type).startswith(("int", "uint", "float", "double", "decimal"))
        shown.add_column(printable(field.name), justify="right" if is_number else "left", overflow="fold")
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        shown.add_row(*(_cell(value) for value in row))
    console.print(shown)
    console.print(Text(f"{table.num_rows:,} row{'' if table.num_rows == 1 else 's'}", style="dim"))


def _cell(value: object) -> Text:
    if value is None:
        return Text("null", style="dim")
    if isinstance(value, float):
        return Text(f"{value:.6g}")
    return Text(printable(str(value)))
