"""The pipeline as Prefect flows, against a real Prefect server."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from database_equality import differences
from prefect import flow
from prefect.client.schemas.objects import State
from prefect_server import PrefectServer, wait_for
from repositories import make_repository

from flows.alerts import ensure_alerts
from flows.dead_runs import close_dead_runs
from flows.index import index_repositories
from flows.nightly import nightly
from flows.rebuild import rebuild
from flows.stages import PrefectExecutor
from repolake import pipeline
from repolake.database_files import published_path
from repolake.errors import GitTimeoutError, NothingToIndexError, RepositoryNotFoundError
from repolake.groups import MAX_GROUPS
from repolake.lake import Lake
from repolake.records import RepositorySpec
from repolake.settings import load_settings

pytestmark = pytest.mark.usefixtures("server")


def run(**arguments: object) -> State[Any]:
    return index_repositories(**arguments, return_state=True)  # type: ignore[call-overload,no-any-return]


def artifacts(server: PrefectServer, state: State[Any]) -> dict[str, Any]:
    """Return the data of a run's artifacts by key."""
    body = {"flow_runs": {"id": {"any_": [str(state.state_details.flow_run_id)]}}}
    return {artifact["key"]: artifact["data"] for artifact in server.post("artifacts/filter", body)}


@pytest.fixture
def nightly_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A list of one repository, and the settings of a nightly worker; the path of the list."""
    make_repository(tmp_path / "shop")
    (tmp_path / "repolake.toml").write_text('[[repositories]]\nlocation = "shop"\n')
    monkeypatch.setenv("REPOLAKE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REPOLAKE_MODEL", "fast")
    return tmp_path / "repolake.toml"


def test_the_flow_and_the_command_line_give_equal_databases(tmp_path: Path, server: PrefectServer):
    locations = [str(make_repository(tmp_path / name)) for name in ("shop", "store")]
    state = run(locations=locations, model="fast", data_dir=tmp_path / "flow")
    assert (state.name, state.is_completed()) == ("Completed", True)
    pipeline.index(
        [RepositorySpec(location) for location in locations],
        settings=load_settings(model="fast", data_dir=tmp_path / "cli"),
    )
    by_flow, by_command = published_path(tmp_path / "flow"), published_path(tmp_path / "cli")
    assert by_flow is not None
    assert by_command is not None
    assert differences(by_flow, by_command) == []
    names = server.task_run_names(str(state.state_details.flow_run_id))
    assert sorted(names) == [
        "chunk_group: shop",
        "chunk_group: store",
        "embed_group: shop",
        "embed_group: store",
        "load_all",
        f"scan_group: {locations[0]}",
        f"scan_group: {locations[1]}",
    ]


def test_sixty_repositories_take_tens_of_task_runs_and_name_what_runs(tmp_path: Path, server: PrefectServer):
    for number in range(60):
        (tmp_path / f"r{number:03}").mkdir()
        (tmp_path / f"r{number:03}" / "a.py").write_text("def answer():\n    return 42\n")
    locations = [str(path) for path in sorted(tmp_path.iterdir())]
    state = run(locations=locations, model="fast", data_dir=tmp_path / "data")
    names = server.task_run_names(str(state.state_details.flow_run_id))
    groups = -(-60 // -(-60 // MAX_GROUPS))  # as many groups of equal size as MAX_GROUPS allows
    assert len(names) == 3 * groups + 1
    assert "embed_group: r000 and 2 more" in names
    assert len(artifacts(server, state)["repolake-run"]) > 60
    [flow_run] = server.post(
        "flow_runs/filter", {"flow_runs": {"id": {"any_": [str(state.state_details.flow_run_id)]}}}
    )
    assert flow_run["name"] == f"index {locations[0]} and 59 more"


def test_a_run_with_a_failed_repository_ends_partial_with_artifacts_that_say_what_failed(
    tmp_path: Path, server: PrefectServer
):
    shop = make_repository(tmp_path / "shop")
    nowhere = tmp_path / "no|<b>where"
    state = run(locations=[str(shop), str(nowhere)], model="fast", data_dir=tmp_path / "data")
    assert (state.name, state.is_completed()) == ("Partial", True)
    found = artifacts(server, state)
    rows = json.loads(found["repolake-run"])
    assert [(row["files indexed"], row["files skipped"], row["failures"]) for row in rows] == [
        (4, 1, 0),
        (0, 0, 1),
    ]
    assert json.loads(found["repolake-skips"]) == [{"skip rule": "package-lock.json", "files": 1}]
    assert "no&#124;&lt;b>where" in found["repolake-failures"]


def test_a_run_that_publishes_nothing_fails(tmp_path: Path):
    state = run(locations=[str(tmp_path / "nowhere")], data_dir=tmp_path / "data")
    assert state.is_failed()
    with pytest.raises(RepositoryNotFoundError):
        state.result()


def test_the_nightly_flow_makes_the_lake_equal_to_the_list(nightly_environment: Path, tmp_path: Path):
    state = nightly(config=nightly_environment, return_state=True)
    assert state.is_completed()
    assert published_path(tmp_path / "data") is not None


def test_the_rebuild_flow_publishes_the_same_content_from_the_lake_alone(
    tmp_path: Path, server: PrefectServer
):
    shop = make_repository(tmp_path / "shop")
    run(locations=[str(shop)], model="fast", data_dir=tmp_path / "data")
    before = published_path(tmp_path / "data")
    shutil.rmtree(shop)
    state = rebuild(data_dir=tmp_path / "data", return_state=True)
    after = published_path(tmp_path / "data")
    assert state.is_completed()
    assert before is not None
    assert after not in {None, before}
    assert differences(before, after) == []  # type: ignore[arg-type]
    assert json.loads(artifacts(server, state)["repolake-rebuild"])[0]["database"] == after.name  # type: ignore[union-attr]


def test_a_night_over_its_time_ends_failed_as_timed_out_and_frees_the_data_folder(
    nightly_environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("REPOLAKE_NIGHTLY_TIMEOUT_HOURS", "0.0003")  # a second
    with Lake(tmp_path / "data").lock():
        state = nightly(config=nightly_environment, return_state=True)
    assert (state.name, state.is_failed()) == ("TimedOut", True)
    assert "0.0003 hours" in str(state.message)
    monkeypatch.delenv("REPOLAKE_NIGHTLY_TIMEOUT_HOURS")
    assert nightly(config=nightly_environment, return_state=True).is_completed()


@pytest.fixture
def listener() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A URL, and the list of the JSON that was posted to it."""
    posted: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}/alert", posted
        http.shutdown()


def test_a_failed_and_a_missing_night_call_the_alert_url(
    nightly_environment: Path, listener: tuple[str, list[dict[str, str]]], server: PrefectServer
):
    url, posted = listener
    ensure_alerts(url, hours=10 / 3600)
    before = {automation["id"] for automation in server.post("automations/filter", {})}
    ensure_alerts(url, hours=10 / 3600)
    assert {automation["id"] for automation in server.post("automations/filter", {})} == before
    nightly(config=nightly_environment.with_name("no.toml"), return_state=True)

    def texts(phrase: str) -> list[str]:
        return [post["text"] for post in posted if phrase in post["text"]]

    [failed, *_] = wait_for(lambda: texts("is Failed"), "the alert of the failed night")
    assert failed.startswith("repolake: nightly no.toml ")
    assert "cannot read" in failed
    assert "/runs/flow-run/" in failed
    wait_for(lambda: texts("no night was completed"), "the alert of the missing night")


@pytest.mark.parametrize("is_held", [False, True], ids=["nobody holds the data folder", "a run holds it"])
def test_a_run_without_a_process_is_closed_unless_the_data_folder_is_held(
    tmp_path: Path, server: PrefectServer, is_held: bool
):
    flow_id = server.post("flows/", {"name": "lost"})["id"]
    deployment = server.post("deployments/", {"name": f"lost {is_held}", "flow_id": flow_id})["id"]
    lost = server.post(f"deployments/{deployment}/create_flow_run", {"state": {"type": "RUNNING"}})
    with Lake(tmp_path / "data").lock() if is_held else contextlib.nullcontext():
        close_dead_runs([f"lost {is_held}"], tmp_path / "data")
    [found] = server.flow_runs(f"lost {is_held}")
    assert (found["id"], found["state_name"]) == (lost["id"], "Running" if is_held else "Crashed")


@pytest.mark.parametrize(
    ("error", "attempts"),
    [(GitTimeoutError("https://example.org/a", "no answer"), 3), (NothingToIndexError("empty", ""), 1)],
    ids=["transient", "not transient"],
)
def test_only_transient_errors_are_tried_again(error: Exception, attempts: int):
    calls = []

    def fails_twice() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise error
        return "done"

    @flow
    def try_it() -> int:
        with contextlib.suppress(NothingToIndexError):
            PrefectExecutor(first_retry_seconds=0).submit(fails_twice).result()
        return len(calls)

    assert try_it() == attempts
