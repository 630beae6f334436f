"""Flow `index_repositories`: the pipeline as Prefect tasks, tens of task runs for any number of files.

Run it once with `python -m flows.index PATH_OR_URL...`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from prefect import flow
from prefect.artifacts import create_table_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from flows.stages import LoggedProgress, PrefectExecutor
from repolake import pipeline
from repolake.records import Chunker, RepositorySpec, RunReport
from repolake.repository_list import read_repository_list
from repolake.settings import load_settings

SCANS_AT_ONCE = 4  # other stages run one at a time

_TASK_RUNNER: Any = ThreadPoolTaskRunner(max_workers=SCANS_AT_ONCE)  # prefect's own types disagree


@flow(
    name="index_repositories",
    task_runner=_TASK_RUNNER,
    persist_result=False,
)
def index_repositories(
    *,
    locations: list[str] | None = None,
    config: Path | None = None,
    data_dir: Path | None = None,
    model: str | None = None,
    chunker: Chunker | None = None,
    allow_shrink: bool = False,
    wait_seconds: float = 0.0,
) -> State[Any]:
    """Bring an index up to date, as `repolake index` does.

    `locations` are paths or URLs; `config` is a `repolake.toml` that the lake is made equal to. Without
    either, every repository that the lake knows is read again. Ends Completed, with the state name
    `Partial` when a repository or file failed; Failed when nothing was published.
    """
    specs = [RepositorySpec(location) for location in locations or []]
    if config is not None:
        specs.extend(read_repository_list(config))
    report = pipeline.index(
        specs,
        settings=load_settings(data_dir=data_dir, model=model),
        executor=PrefectExecutor(),
        chunker=chunker,
        is_whole_list=config is not None,
        allow_shrink=allow_shrink,
        wait_seconds=wait_seconds,
        progress=LoggedProgress(),
    )
    create_table_artifact(key="repolake-run", table=_rows(report), description=_description(report))
    state_name = "Partial" if report.failures else "Completed"
    return Completed(name=state_name, message=_description(report))


def _rows(report: RunReport) -> list[dict[str, Any]]:
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
            "failures": "; ".join(f"{f.path} ({f.stage.value}): {f.error}" for f in entry.failures),
        }
        for entry in report.repositories
    ]


def _description(report: RunReport) -> str:
    chunks = sum(entry.chunks for entry in report.repositories)
    what = "nothing changed" if report.is_unchanged else f"published {Path(report.database).name}"
    return f"run {report.run_id}: {what}, {chunks:,} chunks, {len(report.failures)} failures"


if __name__ == "__main__":
    index_repositories(locations=sys.argv[1:])
