"""Evaluation of a real index: labels resolved, variants built beside it, a gate that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from repositories import commit, make_repository
from tiny_models import build_cross_encoder

from repolake import pipeline
from repolake.database_files import published_path
from repolake.errors import IndexMissingError
from repolake.evaluate import Grid, evaluate
from repolake.evaluations import Evaluation, read_evaluation, write_evaluation
from repolake.garbage import collect_garbage
from repolake.lake import Lake
from repolake.progress import SilentProgress
from repolake.records import Chunker, Header, RepositorySpec, SearchMode
from repolake.search import open_index
from repolake.settings import Settings

# Two methods that do not fit one window together, so that windows cut the second one.
LEDGER = (
    "class Ledger:\n"
    "    def open_account(self, owner):\n"
    + "".join(f"        self.step_{i} = owner.prepare_{i}(self, {i})\n" for i in range(12))
    + "\n    def settle_debt(self, debtor):\n"
    + "".join(f"        self.paid_{i} = debtor.repay_{i}(self, {i})\n" for i in range(12))
)
SETTLE = {"id": "settle", "query": "settle the debt", "path": "ledger.py", "symbol": "Ledger.settle_debt"}
GONE = {"id": "gone", "query": "bankruptcy", "path": "ledger.py", "symbol": "Ledger.go_bankrupt"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("evaluate")
    repository = make_repository(
        folder / "bank", {"ledger.py": LEDGER, "greet.py": "def hello():\n    pass\n"}
    )
    settings = Settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository), name="bank")], settings=settings)
    # The branch has moved on since: an evaluation is about what is published.
    commit(repository, {"ledger.py": None})
    return settings


def run(settings: Settings, tmp_path: Path, *labels: dict[str, object], **grid: object) -> Evaluation:
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in labels))
    return evaluate(file, Grid(**grid), settings=settings, progress=SilentProgress())  # type: ignore[arg-type]


def test_syntax_keeps_a_method_whole_where_windows_of_the_same_budget_cut_it(settings, tmp_path):
    found = run(
        settings,
        tmp_path,
        SETTLE,
        modes=(SearchMode.TEXT,),
        chunkers=(Chunker.AST, Chunker.FIXED),
        chunk_tokens=(256,),
    )
    ast, fixed = found.results
    assert (ast.variant.chunker, fixed.variant.chunker) == (Chunker.AST, Chunker.FIXED)
    assert ast.queries[0].metrics["touched@1"] == fixed.queries[0].metrics["touched@1"] == 1.0
    assert (ast.queries[0].metrics["whole@5"], fixed.queries[0].metrics["whole@5"]) == (1.0, 0.0)
    assert ast.lengths is not None
    assert ast.lengths.over_limit_count == 0
    assert ast.lengths.max_tokens <= 256


def test_a_label_that_no_longer_resolves_is_reported_and_counts_as_not_found(settings, tmp_path):
    found = run(settings, tmp_path, SETTLE, GONE, modes=(SearchMode.TEXT,))
    assert found.unresolved == ("gone: ledger.py defines no Ledger.go_bankrupt",)
    by_id = {query.query_id: query.metrics for query in found.results[0].queries}
    assert by_id["settle"]["recall@10"] == 1.0
    assert by_id["gone"]["recall@10"] == 0.0


def test_the_published_index_and_its_manifests_stay_as_they_were(settings, tmp_path):
    before = published_path(settings.data_dir), len(Lake(settings.data_dir).manifests())
    run(settings, tmp_path, SETTLE, modes=(SearchMode.TEXT,), chunkers=(Chunker.FIXED,))
    assert (published_path(settings.data_dir), len(Lake(settings.data_dir).manifests())) == before


def test_a_side_index_shares_the_chunks_and_vectors_of_the_lake(settings, tmp_path):
    run(settings, tmp_path, SETTLE)
    before = {path.name for path in Lake(settings.data_dir).root.rglob("*.parquet")}
    run(settings, tmp_path, SETTLE)
    assert {path.name for path in Lake(settings.data_dir).root.rglob("*.parquet")} == before


def test_folders_in_the_header_find_what_only_they_say(settings, tmp_path):
    # Two files alike but for their folder: the name alone cannot tell which one is asked for.
    body = "def begin():\n    return 1\n"
    shop = make_repository(tmp_path / "shop", {f"{name}/start.py": body for name in ("apples", "invoices")})
    settings = Settings(data_dir=tmp_path / "data", model="fast")
    pipeline.index([RepositorySpec(str(shop), name="shop")], settings=settings)
    labels = [
        {"id": name, "query": f"{name} start", "path": f"{name}/start.py", "symbol": "begin"}
        for name in ("apples", "invoices")
    ]
    found = run(settings, tmp_path, *labels, modes=(SearchMode.VECTOR,), headers=tuple(Header))
    by_name, by_path = ([q.metrics["touched@1"] for q in result.queries] for result in found.results)
    assert sorted(by_name) == [0.0, 1.0]
    assert by_path == [1.0, 1.0]
    assert [result.variant.index_name for result in found.results] == ["ast fast 512", "ast fast 512 folders"]


def test_garbage_collection_keeps_the_vectors_of_every_header_that_a_side_index_has(settings, tmp_path):
    shop = make_repository(tmp_path / "shop", {"apples/start.py": "def begin():\n    return 1\n"})
    settings = Settings(data_dir=tmp_path / "data", model="fast", gc_grace_hours=0.0)
    pipeline.index([RepositorySpec(str(shop), name="shop")], settings=settings)
    label = {"query": "start", "path": "apples/start.py", "symbol": "begin"}
    run(settings, tmp_path, label, headers=(Header.FOLDERS,))
    folder = Lake(settings.data_dir).embeddings_dir(
        Lake(settings.data_dir).latest_manifest().model["model_id"]
    )
    count = sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet"))
    collect_garbage(settings=settings)
    assert count == 2
    assert sum(pq.read_metadata(path).num_rows for path in folder.glob("*.parquet")) == count


def test_a_reranker_is_measured_beside_the_hybrid_that_it_orders(tmp_path):
    repository = make_repository(
        tmp_path / "files",
        {
            "plain.py": "def read_write_file(read, write, file): pass\n",
            "odd.py": "def read_json(file): pass\n",
        },
    )
    settings = Settings(data_dir=tmp_path / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository), name="files")], settings=settings)
    label = {"id": "odd", "query": "read write file", "path": "odd.py", "symbol": "read_json"}
    prefers_json = str(build_cross_encoder(tmp_path / "json-lover"))
    found = run(
        settings, tmp_path, label, rerankers=(prefers_json,), modes=(SearchMode.TEXT, SearchMode.HYBRID)
    )
    assert [
        (result.variant.mode, result.variant.reranker, result.queries[0].metrics["mrr@10"])
        for result in found.results
    ] == [("text", None, 0.5), ("hybrid", None, 0.5), ("hybrid", prefers_json, 1.0)]
    write_evaluation(Lake(settings.data_dir), found)
    assert read_evaluation(Lake(settings.data_dir), "latest").results[2].variant == found.results[2].variant


def test_nothing_indexed_is_said(tmp_path):
    with pytest.raises(IndexMissingError, match="run `repolake index"):
        run(Settings(data_dir=tmp_path / "none"), tmp_path, SETTLE)


def test_whether_the_symbol_stands_in_the_query_is_found_by_whole_words(settings, tmp_path):
    named = {**SETTLE, "id": "named", "query": "where is settle_debt called"}
    found = run(settings, tmp_path, SETTLE, named, modes=(SearchMode.TEXT,))
    assert {query.query_id: query.symbol_in_query for query in found.results[0].queries} == {
        "settle": False,
        "named": True,
    }


def test_the_next_published_index_tells_the_trend_in_sql(settings, tmp_path):
    found = run(settings, tmp_path, SETTLE, modes=(SearchMode.TEXT,), chunkers=(Chunker.AST,))
    write_evaluation(Lake(settings.data_dir), found)
    bank = make_repository(tmp_path / "second", {"a.py": "def second_bank():\n    pass\n"})
    pipeline.index([RepositorySpec(str(bank), name="second")], settings=settings)
    query = (
        "select query_count, mode, value from evaluations where evaluation_id = $id and metric = 'recall@10'"
    )
    with open_index(settings.data_dir) as index:
        rows = index.sql(query, {"id": found.evaluation_id}).to_pylist()
    assert rows == [{"query_count": 1, "mode": "text", "value": 1.0}]
