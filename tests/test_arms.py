"""The arms of a hybrid search beside words and meaning: references, picked files; and copies once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece
from repositories import make_repository

from repolake import pipeline
from repolake.cli_output import explanation
from repolake.errors import QueryError
from repolake.load import load
from repolake.progress import SilentProgress
from repolake.records import RepositorySpec
from repolake.search import Index, open_index
from repolake.settings import Settings

FILES = {
    "core.py": "def open_session(address):\n    return address\n",
    "certain.py": "from core import open_session\n\n\ndef first():\n    return open_session(1)\n",
    "often.py": (
        "from core import open_session\n\n\n"
        "def second():\n    open_session(1)\n    open_session(2)\n    return open_session(3)\n"
    ),
    "alone.py": "def unused():\n    return 'open session open session open session'\n",
    "test_core.py": "from core import open_session\n\n\ndef test_it():\n    assert open_session(1)\n",
}


def east(_: str) -> list[float]:
    return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("arms")
    repository = make_repository(folder / "shop", FILES)
    pipeline.index(
        [RepositorySpec(str(repository))], settings=Settings(data_dir=folder / "data", model="fast")
    )
    with open_index(folder / "data") as opened:
        yield opened


def built(folder: Path, *repositories: tuple[str, list[File]]) -> Index:
    builder = LakeBuilder(folder)
    for name, files in repositories:
        builder.add(name, files)
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    return open_index(folder, embed_query=east)


def test_what_uses_the_name_gains_when_references_are_asked_for(index: Index) -> None:
    before = {hit.symbol: hit for hit in index.search("open_session")}
    after = {hit.symbol: hit for hit in index.search("open_session", references=1)}
    ranks = {symbol: hit.arm_ranks for symbol, hit in after.items() if hit.arm_ranks}
    assert ranks["second"] == {"references": 1}  # three uses
    assert {"first", "test_it"} <= set(ranks)
    assert not {"open_session", "unused"} & set(ranks)
    assert after["second"].score - before["second"].score == pytest.approx(1 / 61, abs=1e-6)
    assert after["unused"].score == before["unused"].score
    assert all(hit.arm_ranks is None for hit in before.values())
    assert "arm_ranks" not in before["second"].columns()
    assert "references rank 1" in explanation(after["second"])


def test_filters_apply_to_references_and_prose_names_nothing(index: Index) -> None:
    found = index.search("open_session", references=5, kind="test")
    assert {hit.path for hit in found} == {"test_core.py"}
    assert [hit.arm_ranks for hit in found if hit.arm_ranks] == [{"references": 1}]
    assert all(hit.arm_ranks is None for hit in index.search("open a session", references=5))


def test_sql_takes_arms_as_the_library_does(index: Index) -> None:
    expected = [(hit.path, hit.score) for hit in index.search("open_session", references=2)]
    arms = "arms := reference_arm('open_session', weight := 2)"
    for call in (
        f"search('open_session', {arms})",
        f"search_hybrid('open_session', embed('open_session'), {arms})",
    ):
        rows = index.sql(f"select path, score from {call} order by rank").to_pylist()
        assert [(row["path"], row["score"]) for row in rows] == expected


def test_picked_files_join_at_their_place_with_their_nearest_chunks(tmp_path: Path) -> None:
    far = [Piece(f"nothing alike {n}", f"f{n}", vector=(0, 1, 0), start_line=n + 1) for n in range(12)]
    near = Piece("still nothing alike", "near", vector=(1, 0, 0), start_line=20)
    crowd = [File(f"c{n}.py", [Piece(f"zebra {n}", vector=(0.8, 0.6, 0))]) for n in range(150)]
    with built(tmp_path, ("r", [*crowd, File("picked.py", [*far, near]), File("b.py", far[:1])])) as index:
        call = "selected_arm(['b.py', 'gone.py', 'picked.py'], embed('zebra'), repository := 'r')"
        arm = index.sql(f"select unnest({call}, recursive := true)").to_pylist()
        entries = dict(index.connection.execute("select entry, path from main.current_chunks").fetchall())
        places = [(entries[place["entry"]], place["rank"]) for place in arm]
        assert sorted(places) == [("b.py", 1), *[("picked.py", 3)] * 10]
        table = index.sql(f"select path, symbol from search('zebra', k := 400, arms := {call})").to_pylist()
    assert {"path": "picked.py", "symbol": "near"} in table
    assert sum(row["path"] == "picked.py" for row in table) >= 10


@pytest.mark.parametrize("weight", [-1, float("inf"), "much"])
def test_a_weight_without_a_meaning_is_refused(index: Index, weight: float) -> None:
    with pytest.raises(QueryError, match="references"):
        index.search("x", references=weight)
    with pytest.raises(QueryError, match="mode vector"):
        index.search("x", references=1, mode="vector")


def test_copies_stand_once_and_are_counted(tmp_path: Path) -> None:
    function = Piece("def parse_header(line): ...", "parse_header", "function", vector=(1, 0, 0))
    twin = Piece(function.text, "Other.parse_header", "method", vector=(1, 0, 0))
    with built(
        tmp_path,
        ("a", [File("src/http.py", [function]), File("old/http.py", [function]), File("x.py", [twin])]),
        ("b", [File("lib/renamed.py", [function]), File("test_http.py", [function], kind="test")]),
    ) as index:
        hits = index.search("parse_header")
        assert sorted(hit.symbol for hit in hits) == ["Other.parse_header", "parse_header"]
        [one] = [hit for hit in hits if hit.symbol == "parse_header"]
        assert one.kind == "source"  # the best of them, not the one in a test
        assert one.copy_count == 3
        [other] = [hit for hit in hits if hit is not one]
        assert other.copy_count is None
        assert "copies elsewhere 3" in explanation(one)
        [only] = index.search("parse_header", repository="b", kind="test")
        assert only.path == "test_http.py"


def test_copies_do_not_crowd_others_out(tmp_path: Path) -> None:
    copied = Piece("zebra zebra zebra", "stripes", "function", vector=(1, 0, 0))
    others = [
        Piece(f"zebra number {n} and more", f"f{n}", "function", vector=(0.6, 0.8, 0)) for n in range(12)
    ]
    files = [*(File(f"copies/{n}/z.py", [copied]) for n in range(150)), File("others.py", others)]
    with built(tmp_path, ("r", files)) as index:
        hits = index.search("zebra")
    assert len(hits) == 10
    assert hits[0].copy_count == 149
    assert {hit.path for hit in hits[1:]} == {"others.py"}


def test_of_two_windows_the_one_that_mostly_stands_in_a_better_one_goes(tmp_path: Path) -> None:
    windows = [
        Piece("zebra one two three", "<module>", start_byte=0),
        Piece("zebra zebra five", "<module>", start_byte=14),  # 5 of its 16 bytes in the first
        Piece("zebra six", "<module>", start_byte=22),  # 8 of its 9 bytes in the second
        Piece("seven eight zebra nine", "<module>", start_byte=60),
    ]
    beginning = [
        Piece("alpha beta gamma horse", "<module>", start_byte=0),
        Piece("horse", "<module>", start_byte=17),
    ]
    with built(tmp_path, ("r", [File("windows.py", windows), File("beginning.py", beginning)])) as index:
        words = {hit.text: hit.score for hit in index.search("zebra", mode="text")}
        assert words[windows[1].text] > words[windows[2].text]
        assert {hit.text for hit in index.search("zebra")} == set(words) - {windows[2].text}
        # The shorter is the stronger, and most of the longer does not stand in it.
        assert [hit.text for hit in index.search("horse")] == ["horse", beginning[0].text]
