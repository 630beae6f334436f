"""The containers of docker-compose.yml as processes: scheduled, cancelled and killed nights; the search."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import IO, Any

import compose_file
import httpx
import pytest
from prefect_server import PrefectServer, free_port, wait_for
from repositories import make_repository

from repolake.lake import Lake


@dataclass
class Worker:
    """The nightly container as a process, and how to start it again."""

    server: PrefectServer
    folder: Path
    replaced: dict[str, str]
    log: IO[str]
    process: Popen[bytes]

    def start(self) -> None:
        """Start the process."""
        extra = {"PREFECT_RUNNER_POLL_FREQUENCY": "1", "PREFECT_RUNNER_SERVER_HOST": "127.0.0.1"}
        self.process = compose_file.start("nightly", self.replaced, self.log, **extra)

    @property
    def deployments(self) -> list[dict[str, Any]]:
        """The deployments that the server knows of the flow."""
        body = {"deployments": {"name": {"any_": ["nightly"]}}}
        return list(self.server.post("deployments/filter", body))

    def run_now(self) -> str:
        """Ask for a run; return its id."""
        path = f"deployments/{self.deployments[0]['id']}/create_flow_run"
        return str(self.server.post(path, {"state": {"type": "SCHEDULED"}})["id"])

    def state(self, run_id: str) -> str:
        """Return the state's name of a run."""
        found = self.server.post("flow_runs/filter", {"flow_runs": {"id": {"any_": [run_id]}}})
        return str(found[0]["state_name"])


@pytest.fixture(scope="module")
def worker(server: PrefectServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    folder = tmp_path_factory.mktemp("compose")
    make_repository(folder / "repositories" / "shop")
    (folder / "repolake.toml").write_text('[[repositories]]\nlocation = "repositories/shop"\n')
    replaced = {
        "http://prefect:4200/api": server.url,
        compose_file.PREFECT_HOME: str(server.home),
        "/data": str(folder / "data"),
        "/config": str(folder),
        "8080": str(free_port()),
        "0 2 * * *": "* * * * * */10",
        "minilm": "fast",
    }
    with (folder / "worker.log").open("w") as log:
        started = Worker(server, folder, replaced, log, None)  # type: ignore[arg-type]
        started.start()
        yield started
        started.process.kill()
        started.process.wait()


@pytest.fixture(scope="module")
def first_night(worker: Worker) -> dict[str, Any]:
    """The first scheduled run, when it has ended; no other one is scheduled then."""
    wait_for(lambda: worker.server.flow_runs("nightly"), "a scheduled run")
    worker.server.post(f"deployments/{worker.deployments[0]['id']}/pause_deployment", {})
    runs = worker.server.flow_runs
    wait_for(lambda: all(run["end_time"] for run in runs("nightly")), "the end of the run")
    return runs("nightly")[-1]


@pytest.fixture
def silent_remote(worker: Worker) -> Iterator[str]:
    """A repository in the list whose remote takes connections and never answers; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    held = []

    def accept() -> None:
        try:
            while True:
                held.append(listener.accept())
        except OSError:
            return

    threading.Thread(target=accept, daemon=True).start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/silent.git"
    before = (worker.folder / "repolake.toml").read_text()
    (worker.folder / "repolake.toml").write_text(f'{before}[[repositories]]\nlocation = "{url}"\n')
    yield url
    (worker.folder / "repolake.toml").write_text(before)
    for connection, _ in held:
        connection.close()
    listener.close()


def processes_with(text: str) -> list[int]:
    """Return the processes of this machine that have the text in their command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if text.encode() in command:
            found.append(int(folder.name))
    return found


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_scheduled_night_runs_publishes_logs_and_says_what_it_ran(
    worker: Worker, first_night: dict[str, Any]
):
    assert first_night["state_name"] == "Completed"
    assert re.fullmatch(r"nightly repolake\.toml \d{4}-\d\d-\d\d \d\d:\d\d", first_night["name"])
    body = {"logs": {"flow_run_id": {"any_": [first_night["id"]]}}}

    def logged(phrase: str) -> bool:
        return any(phrase in line["message"] for line in worker.server.post("logs/filter", body))

    wait_for(lambda: logged("scan shop: 5"), "the log of the scan")
    wait_for(lambda: logged("bytes freed"), "the log of gc")
    assert "collect_garbage" in worker.server.task_run_names(first_night["id"])
    assert (worker.folder / "data" / "index.duckdb").is_symlink()


@pytest.mark.usefixtures("first_night")
def test_every_health_check_passes_for_a_living_process_and_fails_for_none(worker: Worker):
    assert compose_file.is_healthy("nightly", worker.replaced)
    assert not compose_file.is_healthy("nightly", {"8080": str(free_port())})
    assert not compose_file.is_healthy("prefect", {"4200": str(free_port())})


def test_the_search_service_waits_for_the_first_night_and_asks_for_its_token(tmp_path: Path, worker: Worker):
    (tmp_path / "token").write_text("let-me-in\n")
    (tmp_path / "data").mkdir()
    port = free_port()
    replaced = {
        "/run/secrets/search_token": str(tmp_path / "token"),
        "/data": str(tmp_path / "data"),
        "8321": str(port),
        compose_file.EVERY_ADDRESS: "127.0.0.2",
        "localhost": "127.0.0.2",
    }
    with (tmp_path / "log").open("w") as log:
        process = compose_file.start("search", replaced, log)

    def search(token: str) -> Any:
        address = f"http://127.0.0.2:{port}/search?q=send_invoice&k=1"
        answer = httpx.get(address, headers={"Authorization": f"Bearer {token}"}, timeout=30)
        return answer.json() if answer.is_success else answer.status_code

    try:
        wait_for(lambda: compose_file.is_healthy("search", replaced), "the search service")
        assert search("let-me-in") == 503
        (tmp_path / "data").rmdir()
        (tmp_path / "data").symlink_to(worker.folder / "data")
        [hit] = wait_for(lambda: isinstance(found := search("let-me-in"), list) and found, "the index")
        assert (hit["path"], hit["start_line"], hit["end_line"]) == ("shop/mail.py", 1, 3)
        assert search("guess") == 401
        assert compose_file.is_healthy("search", replaced)
    finally:
        process.terminate()
        assert process.wait(30) == 0


@pytest.mark.usefixtures("first_night")
def test_a_cancelled_night_leaves_no_process_and_no_lock(worker: Worker, silent_remote: str):
    run_id = worker.run_now()
    wait_for(lambda: processes_with(silent_remote), "git")
    worker.server.post(f"flow_runs/{run_id}/set_state", {"state": {"type": "CANCELLING"}})
    wait_for(lambda: worker.state(run_id) == "Cancelled", "the state Cancelled")
    wait_for(lambda: not processes_with(silent_remote), "the end of git")
    with Lake(worker.folder / "data").lock():
        pass


@pytest.mark.usefixtures("first_night")
def test_a_killed_night_is_crashed_and_does_not_block_the_next(worker: Worker, silent_remote: str):
    run_id = worker.run_now()
    [git_pid, *_] = wait_for(lambda: processes_with(silent_remote), "git")
    run_pid = int(re.search(r"^PPid:\s+(\d+)", Path(f"/proc/{git_pid}/status").read_text(), re.MULTILINE)[1])  # type: ignore[index]
    assert run_pid in children(worker.process.pid)
    os.kill(run_pid, signal.SIGKILL)
    wait_for(lambda: worker.state(run_id) == "Crashed", "the state Crashed")
    (worker.folder / "repolake.toml").write_text('[[repositories]]\nlocation = "repositories/shop"\n')
    again = worker.run_now()
    wait_for(lambda: worker.state(again) == "Completed", "the next night")
    for pid in processes_with(silent_remote):  # git itself gives up after a minute of silence
        os.kill(pid, signal.SIGKILL)


@pytest.mark.usefixtures("first_night")
def test_a_stopped_worker_ends_its_night_and_its_children_and_registers_no_second_deployment(
    worker: Worker, silent_remote: str
):
    run_id = worker.run_now()
    wait_for(lambda: processes_with(silent_remote), "git")
    worker.process.terminate()
    worker.process.wait(60)
    assert worker.state(run_id) == "Cancelled"
    wait_for(lambda: not processes_with(silent_remote), "the end of git")
    worker.start()
    wait_for(lambda: compose_file.is_healthy("nightly", worker.replaced), "the worker again")
    assert len(worker.deployments) == 1
