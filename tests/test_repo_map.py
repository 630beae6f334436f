"""The map of a repository: central files first, within a budget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from repositories import make_repository

from repolake import pipeline
from repolake.centrality import page_rank
from repolake.mcp_answers import map_answer
from repolake.records import RepositorySpec
from repolake.search import Index, open_index
from repolake.settings import Settings

FILES = {
    "core.py": "def fetch(address):\n    return address\n\n\ndef _check(address):\n    return None\n",
    "one.py": "from core import fetch\n\n\ndef first():\n    return fetch(1)\n",
    "two.py": "from core import fetch\nfrom one import first\n\n\ndef second():\n    return fetch(first())\n",
    "alone.py": "def unused():\n    return 0\n",
    "test_core.py": "from core import fetch\n\n\ndef test_fetch():\n    assert fetch(1)\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("map")
    repository = make_repository(folder / "shop", FILES)
    settings = Settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository))], settings=settings)
    with open_index(folder / "data") as opened:
        yield opened


def test_page_rank_is_that_of_its_definition():
    # 0 → 1 twice as much as 0 → 2, 1 → 2, and a reader begins anywhere alike.
    scores = page_rank(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([2.0, 1.0, 1.0]), np.ones(3))
    first = 0.15 / 3
    second = first + 0.85 * first * 2 / 3
    third = first + 0.85 * (first / 3 + second)
    assert scores.tolist() == pytest.approx([first, second, third])


def test_a_graph_without_edges_or_nodes_has_scores_all_the_same():
    nothing = np.array([], np.int64)
    assert page_rank(nothing, nothing, np.array([]), np.array([1.0, 0.0])).tolist() == pytest.approx(
        [0.15, 0]
    )
    assert page_rank(nothing, nothing, np.array([]), np.array([])).tolist() == []


def test_the_map_begins_with_the_file_that_the_others_use_and_leaves_tests_out(index: Index):
    rows = index.sql("select rank, path, symbol, signature from repo_map('shop')").to_pylist()
    assert [row["path"] for row in rows] == ["core.py", "core.py", "one.py", "two.py", "alone.py"]
    assert (rows[0]["rank"], rows[0]["symbol"], rows[0]["signature"]) == (1, "fetch", "def fetch(address):")


def test_the_map_keeps_to_its_budget_and_private_names_go_first(index: Index):
    whole = index.sql("select symbol, tokens from repo_map('shop')").to_pylist()
    total = sum(row["tokens"] for row in whole)
    cut = index.sql("select symbol, tokens from repo_map('shop', token_budget := $n)", {"n": total - 1})
    assert sum(cut["tokens"].to_pylist()) < total
    assert {row["symbol"] for row in whole} - set(cut["symbol"].to_pylist()) == {"_check"}
    assert index.sql("from repo_map('shop', token_budget := 1)").num_rows == 0


def test_assistants_get_signatures_under_their_files(index: Index):
    assert map_answer(index, "shop", 2000).splitlines()[:3] == [
        "core.py",
        "  1: def fetch(address):",
        "  5: def _check(address):",
    ]
