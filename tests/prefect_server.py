"""A real Prefect server as a process of its own, and the nightly worker, for tests."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import compose_file
import httpx
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogWorker
from prefect.settings import PREFECT_API_URL, PREFECT_HOME, temporary_settings

PATIENCE_SECONDS = 240


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    """Return the first true value of the condition; fail loudly if it never comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.5)  # a health check starts an interpreter: asked more often, it slows what it waits for
    return value


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrefectServer:
    """One running server: its API, and the environment of processes that use it."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.home = home

    @property
    def environment(self) -> dict[str, str]:
        """The variables that a process needs to use the server."""
        return {
            "PREFECT_API_URL": self.url,
            "PREFECT_HOME": str(self.home),
            "PREFECT_RUNNER_POLL_FREQUENCY": "1",
        }

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Call the API and return its answer; like Prefect's own client, again while SQLite is busy (503)."""

        def answer() -> httpx.Response | None:
            given = httpx.post(f"{self.url}/{path}", json=body, timeout=60)
            return None if given.status_code == httpx.codes.SERVICE_UNAVAILABLE else given

        response: httpx.Response = wait_for(lambda: [found] if (found := answer()) is not None else [], path)[
            0
        ]
        response.raise_for_status()
        return response.json() if response.content else None

    def flow_runs(self, deployment: str) -> list[dict[str, Any]]:
        """Return the runs of a deployment that began, newest first."""
        body = {
            "sort": "START_TIME_DESC",
            "flow_runs": {"state": {"type": {"not_any_": ["SCHEDULED"]}}},
            "deployments": {"name": {"any_": [deployment]}},
        }
        return list(self.post("flow_runs/filter", body))

    def task_run_names(self, flow_run_id: str | None = None) -> list[str]:
        """Return the names of all task runs, or of those of one flow run."""
        body: dict[str, Any] = {"sort": "ID_DESC"}
        if flow_run_id is not None:
            body["flow_runs"] = {"id": {"any_": [flow_run_id]}}
        return [entry["name"] for entry in self.post("task_runs/filter", body)]


@contextlib.contextmanager
def prefect_server(home: Path) -> Iterator[PrefectServer]:
    """Start the server as docker-compose.yml does, on a free port, and use it in this process too."""
    port = free_port()
    (home / "password").write_text("secret\n")
    replaced = {
        "/run/secrets/postgres_password": str(home / "password"),
        compose_file.EVERY_ADDRESS: "127.0.0.1",
        "4200": str(port),
        compose_file.PREFECT_HOME: str(home),
    }
    with (home / "server.log").open("w") as log:
        # With SQLite below PREFECT_HOME instead of Postgres.
        process = compose_file.start("prefect", replaced, log, without="PREFECT_SERVER_DATABASE_")
    url = f"http://127.0.0.1:{port}/api"

    def is_healthy() -> bool:
        assert process.poll() is None, (home / "server.log").read_text()
        return compose_file.is_healthy("prefect", replaced)

    try:
        wait_for(is_healthy, "the server")
        with temporary_settings({PREFECT_API_URL: url, PREFECT_HOME: home}):
            yield PrefectServer(url, home)
            APILogWorker.instance().drain()
            EventsWorker.drain_all()
    finally:
        process.terminate()
        process.wait(60)
