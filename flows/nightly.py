"""Flow `nightly`: brings the index up to date on a cron schedule, for the repositories listed in a file.

`python -m flows.nightly` registers its deployment and serves it until stopped, one run at a time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any, NoReturn

from prefect import flow, get_run_logger
from prefect import serve as serve_deployments
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.schedules import Cron
from prefect.settings import PREFECT_API_URL
from prefect.states import Completed, Failed
from prefect.utilities.timeout import timeout

from flows.alerts import ensure_alerts
from flows.dead_runs import close_dead_runs
from flows.index import TASK_RUNNER, run_pipeline
from flows.rebuild import rebuild
from flows.stages import LoggedProgress, PrefectExecutor
from repolake.errors import RepolakeError
from repolake.garbage import collect_garbage
from repolake.settings import load_settings

DEPLOYMENT = "nightly"
REBUILD_DEPLOYMENT = "rebuild"
WAIT_SECONDS = 3600.0  # for a run by hand to end
SERVER_WAIT_SECONDS = 120.0  # for a server that starts beside the worker


def _run_name() -> str:
    config = Path(str((flow_run.parameters or {}).get("config", "")))
    return f"nightly {config.name} {flow_run.scheduled_start_time:%Y-%m-%d %H:%M}"


@flow(name="nightly", flow_run_name=_run_name, task_runner=TASK_RUNNER, persist_result=False)
def nightly(config: Path, wait_seconds: float = WAIT_SECONDS) -> State[Any]:
    """Make the lake equal to the list of repositories in `config`, publish the index, collect garbage.

    Ends like `index_repositories`: Completed, Partial or Failed; also Failed, as `TimedOut`, after
    `nightly_timeout_hours`: what was done until then is kept, and the next run goes on.
    """
    hours = load_settings().nightly_timeout_hours
    try:
        with timeout(hours * 3600):
            state = run_pipeline(config=config, wait_seconds=wait_seconds)
            return _collect_garbage(state)
    except TimeoutError:
        return Failed(
            name="TimedOut",
            message=f"stopped after {hours:g} hours (REPOLAKE_NIGHTLY_TIMEOUT_HOURS); finished work is kept",
        )


def _collect_garbage(state: State[Any]) -> State[Any]:
    """Sweep and compact the lake as `repolake gc` does; return the night's state, Partial if that failed."""
    logger = get_run_logger()
    try:
        with PrefectExecutor() as executor:
            call = executor.submit(collect_garbage, settings=load_settings(), progress=LoggedProgress())
            report = call.result()
    except RepolakeError as error:
        logger.error("garbage was not collected: %s", error)  # noqa: TRY400  # the message says it all
        return Completed(name="Partial", message=f"{state.message}; garbage was not collected: {error}")
    logger.info(f"garbage: {report.bytes_freed:,} bytes freed, {report.lake_bytes:,} are in the lake")
    return state


def serve() -> None:
    """Register `nightly/nightly` on its schedule and `rebuild/rebuild`, and run them one at a time.

    Runs that died with an earlier worker are marked Crashed first. With a URL for alerts, the automations
    that call it are brought up to date. Exits with 2 and a sentence without a Prefect server: the temporary
    one schedules nothing.
    """
    _wait_for_server()
    settings = load_settings()
    close_dead_runs((DEPLOYMENT, REBUILD_DEPLOYMENT), settings.data_dir)
    if settings.alert_url_file is not None:
        ensure_alerts(settings.alert_url_file.read_text(encoding="utf-8").strip(), settings.alert_hours)
    serve_deployments(
        nightly.to_deployment(  # type: ignore[arg-type]  # a coroutine only inside an event loop
            name=DEPLOYMENT,
            description="Indexes every repository of the list, then collects garbage.",
            parameters={"config": str(settings.repositories_file.resolve())},
            schedule=Cron(settings.nightly_cron, timezone=settings.nightly_timezone),
        ),
        rebuild.to_deployment(  # type: ignore[arg-type]
            name=REBUILD_DEPLOYMENT, description="Builds and publishes the index from the lake alone."
        ),
        limit=1,
        pause_on_shutdown=False,  # a restarted worker goes on; a night without one is late
    )


def _wait_for_server() -> None:
    """Return once the Prefect server answers, which may be starting beside the worker."""
    url = PREFECT_API_URL.value()
    if not url:
        _refuse(
            "the nightly worker needs a Prefect server, which keeps the schedule", "and set PREFECT_API_URL"
        )
    deadline = time.monotonic() + SERVER_WAIT_SECONDS
    with get_client(sync_client=True) as client:
        while (problem := client.api_healthcheck()) is not None:
            if time.monotonic() > deadline:
                _refuse(f"no Prefect server answers at {url} ({problem})", "or correct PREFECT_API_URL")
            time.sleep(1)


def _refuse(problem: str, remedy: str) -> NoReturn:
    sys.stderr.write(f"repolake: {problem}; run `prefect server start` {remedy}\n")
    raise SystemExit(2)


if __name__ == "__main__":
    serve()
