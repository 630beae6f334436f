"""The first k of each arm beside a plain scoring of every chunk that passes the filters."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece

from repolake.load import load
from repolake.progress import SilentProgress
from repolake.search import Index, open_index
from repolake.settings import Settings

SQL = Path(__file__).parents[1] / "sql"
UNIT_VECTORS = ((1.0, 0.0, 0.0), (0.6, 0.8, 0.0), (0.0, 0.6, 0.8), (0.28, 0.96, 0.0), (0.8, 0.0, 0.6))


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Three repositories of 90 chunks by default, each beside a branch and an older snapshot; many ties."""
    data_dir = tmp_path_factory.mktemp("crowd")
    builder = LakeBuilder(data_dir)
    choose = random.Random(7)  # noqa: S311

    def pieces(prefix: str) -> list[Piece]:
        return [
            Piece(
                " ".join(choose.choices(("alpha", "beta", "gamma", "delta", "omega"), (9, 9, 4, 2, 1), k=6)),
                f"{prefix}_{number}",
                "function",
                vector=choose.choice(UNIT_VECTORS),
            )
            for number in range(3)
        ]

    for name in ("b", "a", "c"):
        files = [
            File(f"{name}{n}.py", pieces(f"{name}{n}"), kind=("source", "test")[n % 2]) for n in range(30)
        ]
        branch = [File(f"branch{n}.py", pieces(f"branch{n}")) for n in range(20)]
        builder.add(name, files)
        builder.add(name, [*files[:10], *branch], ref="dev", commit="c" * 40)
        builder.add(name, branch[:5], commit="d" * 40, is_current=False)
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(data_dir, embed_query=lambda _: [0.6, 0.8, 0.0]) as opened:
        yield opened


def expected_first(scores: dict[int, float], k: int) -> list[int]:
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:k]


@pytest.mark.parametrize("filters", [{}, {"repository": "a"}, {"kind": "test"}, {"ref": "dev"}, {"ref": "*"}])
@pytest.mark.parametrize("k", [1, 7, 40, 400])
def test_the_first_k_are_those_of_scoring_every_chunk_that_passes(
    crowd: Index, filters: dict[str, str], k: int
) -> None:
    rows = crowd.sql("select chunk_id, ordinal, repository, ref, kind from main.current_chunks").to_pylist()
    passing = {
        row["ordinal"]: row["chunk_id"]
        for row in rows
        if row["ref"] == filters.get("ref", "main") or filters.get("ref") == "*"
        if row["repository"] == filters.get("repository", row["repository"])
        if row["kind"] == filters.get("kind", row["kind"])
    }
    impacts: dict[int, int] = {}
    for row in crowd.sql(
        "select ordinal, impact from main.postings where word_key in "
        "(main.word_key('alpha'), main.word_key('omega'))"
    ).to_pylist():
        if row["ordinal"] in passing:
            chunk_id = passing[row["ordinal"]]
            impacts[chunk_id] = impacts.get(chunk_id, 0) + row["impact"]
    found_by_words = [hit.chunk_id for hit in crowd.search("omega alpha", k, "text", **filters)]
    assert [int(chunk_id) for chunk_id in found_by_words] == expected_first(impacts, k)

    vectors = crowd.sql("select chunk_id, embedding from main.chunks join main.embeddings using (text_hash)")
    cosines = {
        row["chunk_id"]: round(0.6 * row["embedding"][0] + 0.8 * row["embedding"][1], 6)
        for row in vectors.to_pylist()
        if row["chunk_id"] in set(passing.values())
    }
    found_by_meaning = [hit.chunk_id for hit in crowd.search("omega alpha", k, "vector", **filters)]
    assert [int(chunk_id) for chunk_id in found_by_meaning] == expected_first(cosines, k)


def scanned_tables(index: Index, text: str, parameters: list[object]) -> Counter[str]:
    """How often each table is read by a statement, as DuckDB plans it."""
    plan = json.loads(index.connection.execute(f"explain (format json) {text}", parameters).fetchall()[0][1])
    found: Counter[str] = Counter()
    steps = list(plan)
    while steps:
        step = steps.pop()
        found[step.get("extra_info", {}).get("Table", "").rpartition(".")[2]] += 1
        steps.extend(step.get("children", []))
    return found


@pytest.mark.parametrize("filters", ["", ", kind := 'test', ref := '*'"])
def test_a_hybrid_search_reads_words_and_vectors_once(crowd: Index, filters: str) -> None:
    tables = scanned_tables(crowd, f"from search_hybrid($1, $2{filters})", ["alpha beta", [0.6, 0.8, 0.0]])
    assert (tables["postings"], tables["embeddings"]) == (1, 1)


def test_no_stored_macro_relies_on_a_word_that_the_file_forgets() -> None:
    macros = {path.name: path.read_text() for path in (SQL / "macros").glob("*.sql")}
    assert macros
    assert [name for name, text in macros.items() if re.search(r"\bas\s+materialized\b", text)] == []
