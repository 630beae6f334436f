"""Checking, rebuilding and rolling back a data folder, and what a kill during a load leaves."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from database_equality import differences
from lake_builder import File, LakeBuilder, Piece
from repositories import commit, make_repository

from repolake import database_files, pipeline
from repolake.database_files import published_path
from repolake.errors import IndexMissingError, LakeBusyError, PublishError, UnknownNameError
from repolake.lake import Lake
from repolake.load import load
from repolake.progress import SilentProgress
from repolake.publishing import rebuild, rollback
from repolake.records import RepositorySpec, RunReport
from repolake.search import open_index
from repolake.settings import Settings
from repolake.soundness import check

ROOT = Path(__file__).parent.parent
MODEL = "fast"  # no torch


def settings_for(folder: Path) -> Settings:
    return Settings(data_dir=folder / "data", model=MODEL)


def index(folder: Path) -> RunReport:
    return pipeline.index([RepositorySpec(str(folder / "shop"))], settings=settings_for(folder))


def symbols(folder: Path) -> list[str]:
    with open_index(folder / "data") as session:
        return [hit.symbol for hit in session.search("send invoice", mode="text", path="shop/mail.py")]


def published(folder: Path) -> Path:
    path = published_path(folder / "data")
    assert path is not None
    return path


def repolake(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "repolake", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a repository `shop` and its index in `data`."""
    make_repository(tmp_path / "shop")
    index(tmp_path)
    return tmp_path


def test_a_fresh_index_is_sound(folder: Path) -> None:
    found = check(settings_for(folder))
    assert found.problems == ()
    assert found.shard_count == 3  # one of snapshots, chunks and embeddings each
    result = repolake("check", "--data-dir", folder / "data", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["problems"] == []


def test_check_names_what_is_wrong_with_status_1_and_leaves_it_in_place(folder: Path) -> None:
    lake = Lake(folder / "data")
    [shard] = (lake.root / "embeddings").glob("*/*.parquet")
    data = bytearray(shard.read_bytes())
    data[40:400] = bytes(360)  # the footer stays readable
    shard.write_bytes(data)
    [snapshot] = lake.snapshots_dir.glob("*.parquet")
    snapshot.unlink()
    with duckdb.connect(str(published(folder))) as connection:
        connection.execute("delete from chunks where path = 'shop/mail.py'")
    result = repolake("check", "--data-dir", folder / "data", "--json")
    assert result.returncode == 1
    problems = {problem["where"]: problem["what"] for problem in json.loads(result.stdout)["problems"]}
    assert set(problems) == {str(shard), str(snapshot), published(folder).name}
    assert "no sound shard" in problems[str(shard)]
    assert "missing" in problems[str(snapshot)]
    assert shard.read_bytes() == data
    [line] = [line for line in repolake("check", "--data-dir", folder / "data").stdout.splitlines() if
              line.startswith(str(shard))]  # fmt: skip
    assert "sets it aside" in line


def test_check_names_a_database_that_is_none(folder: Path) -> None:
    published(folder).write_bytes(b"no database")
    [problem] = check(settings_for(folder)).problems
    assert problem.where == published(folder).name
    assert "repolake rebuild" in problem.what


@pytest.mark.parametrize(
    ("version", "advice"), [(4, "`repolake rebuild` makes it anew"), (99, "upgrade repolake")]
)
def test_check_says_once_what_to_do_about_a_database_of_another_version(
    folder: Path, version: int, advice: str
) -> None:
    with duckdb.connect(published(folder)) as connection:
        connection.execute(
            "update index_facts set value = $version where name = 'schema_version'",
            {"version": str(version)},
        )
    [problem] = check(settings_for(folder)).problems
    assert problem.what.count("repolake rebuild") == (1 if version == 4 else 0)
    assert advice in problem.what
    result = repolake("check", "--data-dir", folder / "data")
    assert result.returncode == 1
    assert result.stdout.endswith(": 1 problem\n")


def test_a_damaged_database_is_rebuilt_from_the_lake_alone(folder: Path) -> None:
    shutil.copy(published(folder), folder / "before.duckdb")
    shutil.rmtree(folder / "shop")
    published(folder).write_bytes(b"no database")
    result = repolake("rebuild", "--data-dir", folder / "data")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("published index-")
    assert differences(folder / "before.duckdb", published(folder)) == []
    assert check(settings_for(folder)).problems == ()


def test_a_rebuilt_index_is_known_to_the_next_run(folder: Path) -> None:
    rebuild(settings=settings_for(folder))
    assert index(folder).is_unchanged


def test_rebuild_needs_every_vector_and_publishes_nothing_without_them(folder: Path) -> None:
    before = published(folder)
    shutil.rmtree(folder / "data" / "lake" / "embeddings")
    with pytest.raises(PublishError, match="previous index still answers"):
        rebuild(settings=settings_for(folder))
    assert published(folder) == before
    assert symbols(folder)[0] == "send_invoice"


def test_rollback_publishes_the_index_before_until_the_next_run(folder: Path) -> None:
    first = published(folder)
    commit(folder / "shop", {"shop/mail.py": "def send_invoice_by_post():\n    return 1\n"})
    index(folder)
    assert symbols(folder)[0] == "send_invoice_by_post"
    result = repolake("rollback", "--data-dir", folder / "data", "--json")
    assert json.loads(result.stdout) == {"database": first.name}
    assert symbols(folder)[0] == "send_invoice"
    again = repolake("rollback", "--data-dir", folder / "data")
    assert again.returncode == 2
    assert "holds no index older than" in again.stderr
    assert again.stderr.count("\n") == 1
    assert symbols(folder)[0] == "send_invoice"
    index(folder)
    assert symbols(folder)[0] == "send_invoice_by_post"


@pytest.mark.parametrize("kept", [1, 2])
def test_a_publish_removes_all_but_the_newest_replaced_databases(folder: Path, kept: int) -> None:
    settings = Settings(data_dir=folder / "data", model=MODEL, databases_kept=kept)
    made = [published(folder)]
    with open_index(folder / "data") as reader:
        for _ in range(3):
            rebuild(settings=settings)
            made.append(published(folder))
        assert len(reader.search("send invoice", mode="text")) > 0  # it reads on in the file that is gone
    assert sorted((folder / "data").glob("index-*.duckdb")) == made[-1 - kept :]


def test_rollback_does_not_take_what_a_killed_run_left_or_a_file_that_is_none(folder: Path) -> None:
    draft = database_files.draft_path(folder / "data", "20000101T000000-aaaaaa")
    draft.write_bytes(published(folder).read_bytes()[:8192])
    with pytest.raises(UnknownNameError):
        rollback(settings=settings_for(folder))


def test_check_rebuild_and_rollback_of_nothing_are_refused(tmp_path: Path) -> None:
    for command in (check, lambda settings: rebuild(settings=settings), lambda s: rollback(settings=s)):
        with pytest.raises(IndexMissingError):
            command(settings_for(tmp_path))


def test_rebuild_and_rollback_wait_for_no_one_by_default(folder: Path) -> None:
    with Lake(folder / "data").lock():
        with pytest.raises(LakeBusyError):
            rebuild(settings=settings_for(folder))
        with pytest.raises(LakeBusyError):
            rollback(settings=settings_for(folder))


def test_a_reader_keeps_the_index_that_it_opened_and_a_new_one_sees_the_new(folder: Path) -> None:
    commit(folder / "shop", {"shop/mail.py": "def send_invoice_by_post():\n    return 1\n"})
    with open_index(folder / "data") as old:
        index(folder)
        assert old.search("invoice", mode="text", path="shop/mail.py")[0].symbol == "send_invoice"
        assert symbols(folder) == ["send_invoice_by_post"]
        assert old.sql("select symbol from code where path = 'shop/mail.py'").num_rows == 1


def test_the_same_lake_gives_an_equal_database(folder: Path) -> None:
    first = published(folder)
    rebuild(settings=settings_for(folder))
    assert published(folder) != first
    assert differences(first, published(folder)) == []


def test_no_room_for_another_index_is_said_before_the_load(tmp_path: Path) -> None:
    builder = LakeBuilder(tmp_path)
    builder.add("r", [File("a.py", [Piece("x = 1", vector=(1, 0, 0))])])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    path = published_path(tmp_path)
    assert path is not None
    with path.open("r+b") as file:
        file.truncate(shutil.disk_usage(tmp_path).total)  # sparse: as large as the whole disk
    before = sorted(tmp_path.iterdir())
    with pytest.raises(PublishError, match="free space"):
        load(builder.manifest("run-2"), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    assert sorted(tmp_path.iterdir()) == before


LOAD = """
import sys
from pathlib import Path
from repolake.publishing import rebuild
from repolake.settings import Settings
print("ready", flush=True)
sys.stdin.readline()
rebuild(settings=Settings(data_dir=Path(sys.argv[1])))
"""


def test_a_load_killed_at_any_moment_leaves_the_index_before_and_the_next_one_heals(folder: Path) -> None:
    files = {
        f"lib/part{n}.py": "".join(f"def f{n}_{i}(a):\n    return a + {i}\n\n\n" for i in range(40))
        for n in range(30)
    }
    commit(folder / "shop", files)
    index(folder)
    shutil.copy(published(folder), folder / "whole.duckdb")
    started = time.monotonic()
    rebuild(settings=settings_for(folder))
    seconds = time.monotonic() - started
    chance = random.Random(7)  # noqa: S311
    for _ in range(5):
        before = published(folder)
        process = subprocess.Popen(
            [sys.executable, "-c", LOAD, str(folder / "data")],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.readline()
        process.stdin.write("go\n")
        process.stdin.flush()
        time.sleep(chance.uniform(0.05, 1.2) * seconds)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        # The old index, or the new one if the kill came after the switch; either answers in plain DuckDB too.
        assert published(folder) == before or process.returncode in (0, -signal.SIGKILL)
        assert symbols(folder)[0] == "send_invoice"
        with duckdb.connect(str(folder / "data" / "index.duckdb"), read_only=True) as plain:
            assert plain.execute("select symbol from search_text('send_invoice')").fetchone() == (
                "send_invoice",
            )
        assert differences(folder / "whole.duckdb", published(folder)) == []
    rebuild(settings=settings_for(folder))
    assert differences(folder / "whole.duckdb", published(folder)) == []
    assert list((folder / "data").glob("_index*")) == []
    assert check(settings_for(folder)).problems == ()
