"""What a run shows on its page in Prefect: repositories, skips by rule, failures."""

from __future__ import annotations

from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from repolake.records import Failure, RunReport
from repolake.status import Status

SHOWN_FAILURES = 500


def description(report: RunReport) -> str:
    """Return a run in one line."""
    chunks = sum(entry.chunks for entry in report.repositories)
    what = "nothing changed" if report.is_unchanged else f"published {report.database.rpartition('/')[2]}"
    return f"run {report.run_id}: {what}, {chunks:,} chunks, {len(report.failures):,} failures"


def create_artifacts(report: RunReport, status: Status) -> None:
    """Create the artifacts `repolake-run`, `repolake-skips` and, after failures, `repolake-failures`."""
    create_table_artifact(key="repolake-run", table=_repositories(report), description=description(report))
    create_table_artifact(
        key="repolake-skips",
        table=[{"skip rule": rule, "files": count} for rule, count in status.skips.items()],
        description="Files of all repositories that a rule left out, by rule.",
    )
    if report.failures:
        create_markdown_artifact(
            key="repolake-failures",
            markdown=_failures(report.failures),
            description=f"{len(report.failures):,} failures of run {report.run_id}",
        )


def _repositories(report: RunReport) -> list[dict[str, Any]]:
    return [
        {
            "repository": entry.repository,
            "ref": entry.ref,
            "commit": entry.commit,
            "files indexed": entry.files_indexed,
            "files skipped": entry.files_skipped,
            "chunks": entry.chunks,
            "new chunks": entry.chunks_new,
            "new embeddings": entry.embeddings_new,
            "reused embeddings": entry.embeddings_reused,
            "failures": len(entry.failures),
        }
        for entry in report.repositories
    ]


def _failures(failures: tuple[Failure, ...]) -> str:
    lines = ["| repository | path | stage | error |", "|---|---|---|---|"]
    for failure in failures[:SHOWN_FAILURES]:
        cells = (failure.repository, failure.path, failure.stage.value, failure.error)
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    if len(failures) > SHOWN_FAILURES:
        lines.append(f"\n{len(failures) - SHOWN_FAILURES:,} more: `repolake status`.")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return text of a repository as Markdown shows it, not as it would drive the page."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return "".join(f"\\{letter}" if letter in "\\`*_[]!" else letter for letter in " ".join(escaped.split()))
