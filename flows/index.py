"""Flow `index_repositories`: the pipeline as Prefect tasks, tens of task runs for any number of files.

Run it once with `python -m flows.index PATH_OR_URL...`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from prefect import flow, get_run_logger
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Completed
from prefect.task_runners import ThreadPoolTaskRunner

from flows.artifacts import create_artifacts, description
from flows.by_hand import run_by_hand
from flows.stages import LoggedProgress, PrefectExecutor, listed
from repolake import pipeline
from repolake.records import Chunker, RepositorySpec
from repolake.repository_list import read_repository_list
from repolake.settings import load_settings
from repolake.status import read_status

SCANS_AT_ONCE = 4  # other stages run one at a time
LOGGED_FAILURES = 20

TASK_RUNNER: Any = ThreadPoolTaskRunner(max_workers=SCANS_AT_ONCE)  # prefect's own types disagree


def _run_name() -> str:
    parameters = flow_run.parameters or {}
    names = [str(name) for name in (parameters.get("config"), *(parameters.get("locations") or ())) if name]
    return f"index {listed(names) if names else 'all that the lake knows'}"


@flow(name="index_repositories", flow_run_name=_run_name, task_runner=TASK_RUNNER, persist_result=False)
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
    return run_pipeline(
        locations=locations,
        config=config,
        data_dir=data_dir,
        model=model,
        chunker=chunker,
        allow_shrink=allow_shrink,
        wait_seconds=wait_seconds,
    )


def run_pipeline(
    *,
    locations: list[str] | None = None,
    config: Path | None = None,
    data_dir: Path | None = None,
    model: str | None = None,
    chunker: Chunker | None = None,
    allow_shrink: bool = False,
    wait_seconds: float = 0.0,
) -> State[Any]:
    """Run the pipeline inside the flow that calls this; see `index_repositories`."""
    specs = [RepositorySpec(location) for location in locations or []]
    if config is not None:
        specs.extend(read_repository_list(config))
    settings = load_settings(data_dir=data_dir, model=model)
    with PrefectExecutor() as executor:
        report = pipeline.index(
            specs,
            settings=settings,
            executor=executor,
            chunker=chunker,
            is_whole_list=config is not None,
            allow_shrink=allow_shrink,
            wait_seconds=wait_seconds,
            progress=LoggedProgress(),
        )
    logger = get_run_logger()
    for note in report.notes:
        logger.warning(note)
    for failure in report.failures[:LOGGED_FAILURES]:
        logger.error("%s %s (%s): %s", failure.repository, failure.path, failure.stage.value, failure.error)
    create_artifacts(report, read_status(settings.data_dir))
    logger.info(description(report))
    state_name = "Partial" if report.failures else "Completed"
    return Completed(name=state_name, message=description(report))


if __name__ == "__main__":
    run_by_hand(index_repositories, locations=sys.argv[1:])
