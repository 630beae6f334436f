"""The command `evaluate`: what it prints and draws, and which mistakes it names before any work is done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from test_cli import assert_refused, repolake

from repolake.evaluations import latest_evaluation, write_evaluation
from repolake.lake import Lake

COUNT = 12


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the index of one file."""
    folder = tmp_path_factory.mktemp("evaluate")
    (folder / "house").mkdir()
    code = "\n\n".join(f"def paint_wall_{i}():\n    return {i}" for i in range(COUNT))
    (folder / "house" / "house.py").write_text(f"{code}\n")
    result = repolake("index", folder / "house", "--model", "fast", "--data-dir", folder / "data")
    assert result.returncode == 0, result.stderr
    return folder / "data"


@pytest.fixture(scope="module")
def queries(data: Path) -> Path:
    rows = [
        {"query": f"paint_wall_{i}", "path": "house.py", "symbol": f"paint_wall_{i}"} for i in range(COUNT)
    ]
    path = data.parent / "house.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_tables_show_each_variant_its_groups_and_the_lengths_of_its_texts(data: Path, queries: Path):
    options = ("--mode", "text", "--chunker", "ast", "--chunker", "fixed", "--header", "folders")
    result = repolake("evaluate", queries, *options, "--kind", "test", "--data-dir", data)
    assert result.returncode == 0, result.stderr
    rows = [[cell.strip() for cell in line.split("│")[1:]] for line in result.stdout.splitlines()]
    ast = next(row for row in rows if row[:1] == ["text ast fast 512 folders"])
    assert ast[1] == "1.000 [1.00, 1.00]"  # each name stands in one definition
    # The file is no test: a search of tests finds nothing.
    assert ["text ast fast 512 folders test", "0.000 [0.00, 0.00]"] in [row[:2] for row in rows]
    [lengths] = [row for row in rows if row[:1] == ["ast fast 512 folders"]]
    assert lengths[1] == str(COUNT)
    assert "12 queries of house.jsonl" in result.stdout


def test_a_significant_drop_is_exit_status_one_and_names_the_variant(data: Path, queries: Path):
    moved = queries.with_name("moved.jsonl")
    moved.write_text(queries.read_text().replace("house.py", "shed.py"))
    for file in (queries, moved):
        assert repolake("evaluate", file, "--data-dir", data, "--mode", "text").returncode == 0
    lake = Lake(data)
    good = latest_evaluation(lake, queries.name)
    assert good is not None
    write_evaluation(lake, replace(good, evaluation_id="20990101T000000-good", queries=moved.name))
    gate = ("--baseline", "latest", "--max-drop", "0.02")
    result = repolake("evaluate", moved, "--data-dir", data, "--mode", "text", *gate)
    assert result.returncode == 1
    assert "text ast fast 512: ndcg@10 fell by 1.000" in result.stderr
    assert "unresolved label: 1: shed.py is not in the index" in result.stdout


def test_a_picture_is_drawn_and_json_has_every_metric(data: Path, queries: Path, tmp_path: Path):
    picture = tmp_path / "cost.png"
    result = repolake("evaluate", queries, "--data-dir", data, "--picture", picture, "--json")
    assert picture.read_bytes().startswith(b"\x89PNG")
    [variant] = json.loads(result.stdout)["variants"]
    assert variant["groups"]["all"]["recall@1"]["count"] == COUNT
    assert variant["lengths"]["over_limit_count"] == 0


def test_mistakes_are_named_before_any_work_is_done(data: Path, queries: Path, tmp_path: Path):
    def refused(message: str, *arguments: object) -> None:
        assert_refused(repolake("evaluate", *arguments, "--data-dir", data), message)

    before = sorted(Lake(data).evaluations_dir.iterdir())
    refused("no picture can be written as 'cost.xyz'", queries, "--picture", tmp_path / "cost.xyz")
    refused("there is no folder", queries, "--picture", tmp_path / "none" / "cost.png")
    refused("no metric 'quality'", queries, "--baseline", "latest", "--metric", "quality")
    refused("no single evaluation is named '2020'", queries, "--baseline", "2020")
    refused("no query of the split 'dev'; its rows have no `split`", queries, "--split", "dev")
    elsewhere = tmp_path / "q.jsonl"
    elsewhere.write_text('{"query": "x", "path": "a.py", "repository": "castle"}\n')
    refused("1 of 1 queries ask about what is not in the index: castle; the index holds house", elsewhere)
    assert sorted(Lake(data).evaluations_dir.iterdir()) == before
