"""The evaluation as a Prefect flow: what it compares with, and when it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.testing.utilities import prefect_test_harness
from repositories import make_repository

from flows.evaluate import evaluate_retrieval
from repolake import pipeline
from repolake.evaluations import Evaluation, latest_evaluation, write_evaluation
from repolake.lake import Lake
from repolake.records import RepositorySpec
from repolake.settings import load_settings

COUNT = 12


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with prefect_test_harness(server_startup_timeout=300):
        yield


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluate-flow")
    code = "\n\n".join(f"def paint_wall_{i}():\n    return {i}" for i in range(COUNT))
    repository = make_repository(folder / "house", {"house.py": f"{code}\n"})
    settings = load_settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository), name="house")], settings=settings)
    return settings.data_dir


@pytest.fixture(scope="module")
def queries(data_dir: Path) -> Path:
    path = data_dir.parent / "house.jsonl"
    rows = (
        {"query": f"paint_wall_{i}", "path": "house.py", "symbol": f"paint_wall_{i}"} for i in range(COUNT)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(queries: Path, data_dir: Path) -> State[Any]:
    return evaluate_retrieval(queries, data_dir=data_dir, return_state=True)  # type: ignore[call-overload,no-any-return]


def stored(data_dir: Path, queries: Path) -> Evaluation:
    found = latest_evaluation(Lake(data_dir), queries.name)
    assert found is not None
    return found


def test_the_first_evaluation_completes_and_the_next_one_is_compared_with_it(queries: Path, data_dir: Path):
    first = run(queries, data_dir)
    assert first.is_completed()
    assert "nothing to compare with" in str(first.message)
    known = stored(data_dir, queries)
    second = run(queries, data_dir)
    assert second.is_completed()
    assert f"no significant drop since {known.evaluation_id}" in str(second.message)
    with get_client(sync_client=True) as client:
        [artifact, *_] = client._client.post("/artifacts/filter", json={"sort": "CREATED_DESC"}).json()
    assert artifact["key"] == "repolake-evaluation"
    assert "1.000 [1.000, 1.000]" in artifact["data"]


def test_a_significant_drop_fails_the_flow(data_dir: Path, queries: Path):
    elsewhere = queries.with_name("moved.jsonl")
    elsewhere.write_text(queries.read_text().replace('"house.py"', '"shed.py"'))
    run(queries, data_dir)
    good = stored(data_dir, queries)
    # The same questions answered perfectly the day before; now their code is nowhere.
    write_evaluation(
        Lake(data_dir), replace(good, evaluation_id="20990101T000000-good", queries="moved.jsonl")
    )
    state = run(elsewhere, data_dir)
    assert state.is_failed()
    assert "ndcg@10 fell by 1.000 [1.000, 1.000] since 20990101T000000-good" in str(state.message)
    assert f"{COUNT} labels do not resolve" in str(state.message)
