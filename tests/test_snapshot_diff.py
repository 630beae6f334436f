"""The table macro `snapshot_diff`: what changed between two retained snapshots."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from repositories import commit, git, make_repository

from repolake import pipeline
from repolake.errors import RepolakeError
from repolake.records import RepositorySpec
from repolake.search import Index, open_index
from repolake.settings import Settings

ONE = "def one():\n    return 1\n"
TWO = "def two():\n    return 2\n"
BEFORE = {"keep.py": "def keep():\n    return 'keep'\n", "edit.py": f"{ONE}\n\n{TWO}", "gone.py": ONE}
AFTER = {
    "edit.py": f"# moved down\n\n\n{ONE}\n\n{TWO.replace('return 2', 'return 22')}",
    "gone.py": None,
    "new.py": "def fresh():\n    return 3\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Index, str, str]]:
    folder = tmp_path_factory.mktemp("diff")
    repository = make_repository(folder / "shop", BEFORE)
    settings = Settings(data_dir=folder / "data", model="fast")
    pipeline.index([RepositorySpec(str(repository))], settings=settings)
    first = git(repository, "rev-parse", "HEAD")
    second = commit(repository, AFTER)
    pipeline.index([RepositorySpec(str(repository))], settings=settings)
    with open_index(folder / "data") as index:
        yield index, first, second


def diff(index: Index, *arguments: str) -> list[dict[str, object]]:
    names = ("repository", "one", "two")
    statement = "from snapshot_diff($repository, $one, $two)"
    return index.sql(statement, dict(zip(names, arguments, strict=True))).to_pylist()


def test_it_gives_what_was_added_removed_and_changed_with_both_places(shop: tuple[Index, str, str]):
    index, first, second = shop
    rows = diff(index, "shop", first, second)
    places = [
        (row["change"], row["path"], row["symbol"], row["from_start_line"], row["to_start_line"])
        for row in rows
    ]
    assert ("changed", "edit.py", "two", 5, 8) in places
    assert ("removed", "gone.py", "one", 1, None) in places
    assert ("added", "new.py", "fresh", None, 1) in places
    assert not [place for place in places if place[1] == "keep.py"]
    assert not [place for place in places if place[1:3] == ("edit.py", "one") and place[0] != "changed"]


def test_the_other_way_round_added_and_removed_change_places(shop: tuple[Index, str, str]):
    index, first, second = shop
    there = {
        (row["change"], row["path"], row["symbol"]) for row in diff(index, "shop", first[:10], second[:10])
    }
    back = {(row["change"], row["path"], row["symbol"]) for row in diff(index, "shop", second, first)}
    turned = {"added": "removed", "removed": "added", "changed": "changed"}
    assert {(turned[change], path, symbol) for change, path, symbol in there} == back


def test_a_snapshot_differs_from_itself_in_nothing(shop: tuple[Index, str, str]):
    index, first, _ = shop
    assert diff(index, "shop", first, first) == []


@pytest.mark.parametrize("arguments", [("shop", "ffff"), ("blog", "")])
def test_a_snapshot_that_is_not_there_is_an_error_and_no_empty_answer(
    shop: tuple[Index, str, str], arguments: tuple[str, str]
):
    index, first, _ = shop
    with pytest.raises(RepolakeError, match="no retained snapshot"):
        diff(index, arguments[0], first if arguments[1] == "" else arguments[1], first)
