"""What changed lately: by commit, on disk, as a filter and as an arm of a search."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece
from made_repositories import commit, make_repository, put, scanned

from repolake.errors import QueryError
from repolake.load import load
from repolake.moments import read_moment
from repolake.progress import SilentProgress
from repolake.search import Index, open_index
from repolake.settings import Settings

MONDAY = datetime(2026, 11, 23, tzinfo=UTC)


def east(_: str) -> list[float]:
    return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    data_dir = tmp_path_factory.mktemp("data")
    builder = LakeBuilder(data_dir)
    ages = {"old.py": 400, "week.py": 5, "today.py": 0, "notes.md": 3}
    files = [
        File(
            path,
            [Piece(f"retry a request {days}", vector=(1, 0, 0))],
            last_commit_at=MONDAY - timedelta(days=days),
            kind="docs" if path.endswith(".md") else "source",
        )
        for path, days in ages.items()
    ]
    unrelated = File("new.py", [Piece("paint", vector=(0, 1, 0))], last_commit_at=MONDAY)
    undated = File("undated.py", [Piece("retry a request, date unknown")], last_commit_at=None)
    builder.add("acme/shop", [*files, unrelated, undated])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(data_dir, embed_query=east) as opened:
        yield opened


def test_recent_chunks_are_those_since_the_time_newest_first(index: Index) -> None:
    table = index.sql(
        "select path, to_timestamp(score) as changed from recent_chunks($since, kind := 'source')",
        {"since": MONDAY - timedelta(days=5)},
    )
    assert set(table["path"].to_pylist()[:2]) == {"new.py", "today.py"}
    assert table["path"].to_pylist()[2:] == ["week.py"]
    assert table["changed"].to_pylist()[2] == MONDAY - timedelta(days=5)


def test_recent_chunks_have_the_columns_of_a_search(index: Index) -> None:
    columns = [
        index.sql(f"describe from {call}")["column_name"].to_pylist()
        for call in ("recent_chunks(now())", "search_text('a')", "search_hybrid('a', embed('a'))")
    ]
    assert columns[0] == columns[1] == columns[2]


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
def test_since_leaves_older_and_undated_files_out_before_k(index: Index, mode: str) -> None:
    hits = index.search("retry request", k=2, mode=mode, since="2026-11-18", kind="source")
    assert {"today.py", "week.py"} >= {hit.path for hit in hits if hit.path != "new.py"}
    assert len(hits) == 2


def test_newer_files_gain_only_when_recency_is_asked_for(index: Index) -> None:
    without = index.search("retry request 400", kind="source", path_glob="*.py")
    assert without[0].path == "old.py"
    assert all(hit.recency_rank is None for hit in without)
    assert "recency_rank" not in without[0].columns()
    newest = index.search("retry request", kind="source", recency=10)
    assert [hit.path for hit in newest if hit.text_rank][:3] == ["today.py", "week.py", "old.py"]
    assert [hit.recency_rank for hit in newest if hit.path in {"today.py", "week.py"}] == [1, 2]


@pytest.mark.parametrize("recency", [-1, float("nan"), "much", 1e9])
def test_a_weight_without_a_meaning_is_refused(index: Index, recency: float) -> None:
    with pytest.raises(QueryError, match="recency"):
        index.search("retry", recency=recency)


def test_recency_is_no_part_of_words_alone(index: Index) -> None:
    with pytest.raises(QueryError, match="mode text"):
        index.search("retry", mode="text", recency=1)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", MONDAY - timedelta(days=7)),
        ("12h", MONDAY - timedelta(hours=12)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T10:00:00+02:00", datetime(2026, 11, 1, 8, tzinfo=UTC)),
        ("2026-11-01t08:00:00z", datetime(2026, 11, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_time_is_a_date_or_an_age(text: str, moment: datetime) -> None:
    assert read_moment(text, MONDAY) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "7", "99999y", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="no time"):
        read_moment(text, MONDAY)


def test_uncommitted_files_of_a_work_tree_count_from_when_they_were_written(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo", {"a.py": "1\n", "b.py": "1\n", "c.py": "1\n"})
    commit(repository, "second", when=1_700_000_500)
    put(repository, {"b.py": "2\n", "new.py": "3\n", "old.py": "4\n"})
    os.utime(repository / "b.py", (1_800_000_000, 1_800_000_000))
    os.utime(repository / "old.py", (1_600_000_000, 1_600_000_000))
    rows = scanned(repository, tmp_path / "data", worktree=True).rows
    assert rows["a.py"]["last_commit_at"].timestamp() == 1_700_000_000
    assert rows["b.py"]["last_commit_at"].timestamp() == 1_800_000_000
    assert rows["old.py"]["last_commit_at"].timestamp() == 1_700_000_500  # no commit before HEAD held it
    assert (rows["a.py"]["last_author"], rows["b.py"]["last_author"]) == ("Ada", None)
    committed = scanned(repository, tmp_path / "data").rows
    assert committed["b.py"]["last_commit_at"].timestamp() == 1_700_000_000
