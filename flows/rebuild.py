"""Flow `rebuild`: builds and publishes the index from the lake alone.

Run it once with `python -m flows.rebuild`; the nightly worker serves it, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed

from flows.by_hand import run_by_hand
from flows.stages import LoggedProgress, PrefectExecutor
from repolake import publishing
from repolake.settings import load_settings

WAIT_SECONDS = 3600.0  # for a night under way to end


@flow(name="rebuild", flow_run_name="rebuild the index", persist_result=False)
def rebuild(data_dir: Path | None = None, wait_seconds: float = WAIT_SECONDS) -> State[Any]:
    """Do what `repolake rebuild` does: no repository is read, nothing embedded. Failed if not published."""
    settings = load_settings(data_dir=data_dir)
    with PrefectExecutor() as executor:
        report = executor.submit(
            publishing.rebuild, settings=settings, wait_seconds=wait_seconds, progress=LoggedProgress()
        ).result()
    message = f"published {report.database} with {report.chunk_count:,} chunks"
    row = {
        "database": report.database,
        "chunks": report.chunk_count,
        "embeddings": report.embedding_count,
        "bytes": report.size_bytes,
        "seconds": round(report.seconds, 1),
    }
    create_table_artifact(key="repolake-rebuild", table=[row], description=message)
    return Completed(message=message)


if __name__ == "__main__":
    run_by_hand(rebuild)
