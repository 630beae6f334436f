"""The pipeline as Prefect flows, against Prefect's own temporary server."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from database_equality import differences
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.testing.utilities import prefect_test_harness
from repositories import make_repository

from flows.index import index_repositories
from flows.nightly import nightly
from flows.stages import PrefectExecutor
from repolake import pipeline
from repolake.database import published_path
from repolake.errors import GitTimeoutError, NothingToIndexError, RepositoryNotFoundError
from repolake.records import RepositorySpec
from repolake.settings import load_settings


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=300):
        yield


def run(**arguments: object) -> State[Any]:
    return index_repositories(**arguments, return_state=True)  # type: ignore[call-overload,no-any-return]


def task_run_names() -> list[str]:
    with get_client(sync_client=True) as client:
        runs = client._client.post("/task_runs/filter", json={"sort": "ID_DESC"}).json()
    return [entry["name"] for entry in runs]


def test_the_flow_and_the_command_line_give_equal_databases(tmp_path: Path):
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
    assert {name.rpartition("-")[0] for name in task_run_names()} == {
        "scan_group",
        "chunk_group",
        "embed_group",
        "load_all",
    }


def test_a_run_with_a_failed_repository_ends_partial_with_an_artifact(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    state = run(locations=[str(shop), str(tmp_path / "nowhere")], model="fast", data_dir=tmp_path / "data")
    assert (state.name, state.is_completed()) == ("Partial", True)
    with get_client(sync_client=True) as client:
        [artifact, *_] = client._client.post("/artifacts/filter", json={"sort": "CREATED_DESC"}).json()
    assert artifact["key"] == "repolake-run"
    assert "nowhere" in artifact["data"]


def test_a_run_that_publishes_nothing_fails(tmp_path: Path):
    state = run(locations=[str(tmp_path / "nowhere")], data_dir=tmp_path / "data")
    assert state.is_failed()
    with pytest.raises(RepositoryNotFoundError):
        state.result()


def test_the_nightly_flow_makes_the_lake_equal_to_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    make_repository(tmp_path / "shop")
    (tmp_path / "repolake.toml").write_text('[[repositories]]\nlocation = "shop"\n')
    monkeypatch.setenv("REPOLAKE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("REPOLAKE_MODEL", "fast")
    state = nightly(config=tmp_path / "repolake.toml", return_state=True)
    assert state.is_completed()
    assert published_path(tmp_path / "data") is not None


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
