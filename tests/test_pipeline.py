"""A run from repositories to the published database."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from database_equality import differences
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.database_files import published_path
from repolake.errors import (
    LakeBusyError,
    ModelNotFoundError,
    NothingToIndexError,
    RepositoryNameError,
    RepositoryNotFoundError,
    SourceError,
    UnknownNameError,
    UsageError,
)
from repolake.executor import LocalCall, LocalExecutor
from repolake.lake import Lake
from repolake.records import Chunker, RepositorySpec, RunReport
from repolake.search import open_index
from repolake.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


def settings_for(tmp_path: Path, **values: object) -> Settings:
    return Settings(data_dir=tmp_path / "data", model=MODEL, **values)  # type: ignore[arg-type]


MODEL = "fast"  # no torch: dozens of runs in seconds


def index(tmp_path: Path, *specs: RepositorySpec | Path, **arguments: object) -> RunReport:
    given = [spec if isinstance(spec, RepositorySpec) else RepositorySpec(str(spec)) for spec in specs]
    return pipeline.index(given, settings=settings_for(tmp_path), **arguments)  # type: ignore[arg-type]


def published(tmp_path: Path) -> Path:
    path = published_path(tmp_path / "data")
    assert path is not None
    return path


def paths(tmp_path: Path) -> set[tuple[str, str]]:
    with open_index(tmp_path / "data") as session:
        table = session.sql("select distinct repository, path from code")
        return set(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_a_run_publishes_what_it_found(tmp_path: Path):
    report = index(tmp_path, make_repository(tmp_path / "shop"))
    [entry] = report.repositories
    assert (entry.repository, entry.ref, entry.files_indexed, entry.files_skipped) == ("shop", "main", 4, 1)
    assert entry.chunks == entry.chunks_new == entry.embeddings_new > 4
    assert set(report.seconds) == {"scan", "chunk", "embed", "load", "total"}
    with open_index(tmp_path / "data") as session:
        [first, *_] = session.search("send_invoice", k=3)
    assert (first.path, first.symbol) == ("shop/mail.py", "send_invoice")


def test_a_second_run_over_the_same_commit_makes_and_publishes_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    first = index(tmp_path, shop)
    before = published(tmp_path)
    second = index(tmp_path, shop)
    [entry] = second.repositories
    assert second.is_unchanged
    assert (entry.chunks_new, entry.embeddings_new) == (0, 0)
    assert entry.chunks == first.repositories[0].chunks
    assert published(tmp_path) == before


def test_an_edit_costs_the_embeddings_of_what_was_edited(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    commit(shop, {"shop/mail.py": SHOP["shop/mail.py"] + "\n\ndef send_reminder(customer):\n    pass\n"})
    [entry] = index(tmp_path, shop).repositories
    assert entry.embeddings_new == 1
    assert entry.embeddings_reused == entry.chunks - 1


def test_an_incremental_index_equals_one_from_scratch(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    commit(shop, {"shop/mail.py": None, "shop/stock.py": "def count_articles():\n    return 3\n"})
    index(tmp_path, shop)
    fresh = Settings(data_dir=tmp_path / "fresh", model=MODEL, snapshots_per_ref=1)
    pipeline.index([RepositorySpec(str(shop))], settings=fresh)
    again = Settings(data_dir=tmp_path / "data", model=MODEL, snapshots_per_ref=1)
    pipeline.index([RepositorySpec(str(shop))], settings=again)
    assert differences(published(tmp_path), published_path(tmp_path / "fresh")) == []  # type: ignore[arg-type]


def test_index_adds_and_keeps_the_others(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "shop"))
    index(tmp_path, make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"}))
    assert {name for name, _ in paths(tmp_path)} == {"shop", "blog"}


def test_index_without_a_path_reads_every_known_repository_again(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop, make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"}))
    commit(shop, {"shop/stock.py": "def count_articles():\n    return 3\n"})
    report = index(tmp_path)
    assert {entry.repository for entry in report.repositories} == {"shop", "blog"}
    assert ("shop", "shop/stock.py") in paths(tmp_path)


def test_a_whole_list_forgets_what_it_does_not_name(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop, make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"}))
    index(tmp_path, shop, is_whole_list=True)
    assert {name for name, _ in paths(tmp_path)} == {"shop"}


def test_remove_forgets_one_repository(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop, make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"}))
    pipeline.remove("blog", settings=settings_for(tmp_path))
    assert {name for name, _ in paths(tmp_path)} == {"shop"}
    assert index(tmp_path, shop).is_unchanged
    with pytest.raises(UnknownNameError, match="it holds: shop"):
        pipeline.remove("blog", settings=settings_for(tmp_path))


def test_the_last_repository_can_be_removed(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "shop"))
    pipeline.remove("shop", settings=settings_for(tmp_path))
    assert paths(tmp_path) == set()


def test_another_repository_of_the_same_name_is_refused_and_needs_a_name(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "a" / "shop"))
    other = make_repository(tmp_path / "b" / "shop", {"other.py": "def other():\n    pass\n"})
    before = published(tmp_path)
    with pytest.raises(RepositoryNameError, match="--name"):
        index(tmp_path, other)
    assert published(tmp_path) == before
    index(tmp_path, RepositorySpec(str(other), name="other-shop"))
    assert {name for name, _ in paths(tmp_path)} == {"shop", "other-shop"}


def test_a_moved_repository_keeps_its_vectors_and_has_no_second_copy(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    (tmp_path / "elsewhere").mkdir()
    moved = shop.rename(tmp_path / "elsewhere" / "shop")
    [entry] = index(tmp_path, moved).repositories
    assert entry.embeddings_new == 0
    assert {name for name, _ in paths(tmp_path)} == {"shop"}


def test_a_bad_repository_does_not_stop_the_rest(tmp_path: Path):
    report = index(tmp_path, tmp_path / "nowhere", make_repository(tmp_path / "shop"))
    assert report.has_new_failures
    assert [failure.path for failure in report.failures] == ["."]
    assert {name for name, _ in paths(tmp_path)} == {"shop"}
    assert Lake(tmp_path / "data").latest_manifest().state == "partial"  # type: ignore[union-attr]


def test_a_repository_that_is_gone_fails_every_time_and_its_snapshot_stays(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    before = paths(tmp_path)
    shop.rename(tmp_path / "away")
    assert index(tmp_path, shop).has_new_failures
    assert index(tmp_path, shop).has_new_failures
    assert paths(tmp_path) == before
    (tmp_path / "away").rename(shop)
    assert not index(tmp_path, shop).failures


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        (None, (RepositoryNotFoundError, SourceError), "nowhere"),
        ({}, NothingToIndexError, "empty"),
        ({"package-lock.json": "{}", "logo.svg": "<svg/>"}, NothingToIndexError, "skipped: 1 by "),
    ],
    ids=["missing", "empty", "nothing indexable"],
)
def test_a_first_index_of_nothing_is_refused(
    tmp_path: Path,
    files: dict[str, str] | None,
    error: type[Exception] | tuple[type[Exception], ...],
    message: str,
):
    folder = tmp_path / "nowhere"
    if files is not None:
        folder.mkdir()
        for path, text in files.items():
            (folder / path).write_text(text)
    with pytest.raises(error, match=message):
        index(tmp_path, folder)
    assert published_path(tmp_path / "data") is None


def test_a_known_ref_that_became_empty_is_a_success_with_a_note(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    commit(shop, dict.fromkeys(SHOP))
    report = index(tmp_path, shop)
    assert not report.failures
    assert report.notes == ("shop has no indexable file at main any more",)
    assert paths(tmp_path) == set()
    commit(shop, SHOP)
    [entry] = index(tmp_path, shop).repositories
    assert entry.embeddings_new == 0
    assert entry.chunks > 0


def test_nothing_to_index_at_all_asks_for_a_path(tmp_path: Path):
    with pytest.raises(UsageError, match="name a PATH"):
        index(tmp_path)


def test_an_unknown_model_fails_before_anything_is_read(tmp_path: Path):
    settings = Settings(data_dir=tmp_path / "data", model="no-such-folder/model")
    with pytest.raises(ModelNotFoundError):
        pipeline.index([RepositorySpec(str(tmp_path / "nowhere"))], settings=settings)
    assert Lake(tmp_path / "data").latest_manifest() is None


def test_another_chunker_remakes_every_repository_and_stays_chosen(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    index(tmp_path, shop, blog)
    report = index(tmp_path, shop, chunker=Chunker.FIXED)
    assert {entry.repository for entry in report.repositories} == {"shop", "blog"}
    assert {name for name, _ in paths(tmp_path)} == {"shop", "blog"}
    assert index(tmp_path, blog).is_unchanged


def test_another_chunker_is_refused_while_a_repository_is_gone(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    index(tmp_path, shop, blog)
    before = published(tmp_path)
    shutil.rmtree(blog)
    with pytest.raises(UsageError, match="needs every repository again"):
        index(tmp_path, shop, chunker=Chunker.FIXED)
    assert published(tmp_path) == before


def test_refs_of_one_repository_share_vectors(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    git(shop, "switch", "--quiet", "--create", "feature")
    commit(shop, {"shop/stock.py": "def count_articles():\n    return 3\n"})
    git(shop, "switch", "--quiet", "main")
    report = index(tmp_path, RepositorySpec(str(shop), refs=("main", "feature")))
    main, feature = report.repositories
    assert (main.ref, feature.ref) == ("main", "feature")
    assert feature.embeddings_new == 1
    assert ("shop", "shop/stock.py") not in paths(tmp_path)


def test_the_second_of_two_runs_leaves_at_once_or_waits(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    lake = Lake(tmp_path / "data")
    with lake.lock(), pytest.raises(LakeBusyError, match=f"process {os.getpid()}"):
        index(tmp_path, shop)
    index(tmp_path, shop, wait_seconds=5)


def test_a_killed_run_is_shown_as_running_and_the_next_one_heals(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    command = [sys.executable, "-m", "repolake", "index", str(shop), "--model", MODEL]
    command += ["--data-dir", str(tmp_path / "data")]
    process = subprocess.Popen(command, cwd=Path(__file__).parent.parent, start_new_session=True)
    lake = Lake(tmp_path / "data")
    while lake.latest_manifest() is None:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    manifest = lake.latest_manifest()
    assert manifest is not None
    if published_path(tmp_path / "data") is None:
        assert manifest.state == "running"
    index(tmp_path, shop)
    fresh = Settings(data_dir=tmp_path / "fresh", model=MODEL)
    pipeline.index([RepositorySpec(str(shop))], settings=fresh)
    assert differences(published(tmp_path), published_path(tmp_path / "fresh")) == []  # type: ignore[arg-type]


class CountingExecutor(LocalExecutor):
    """Runs calls here, and remembers which functions were submitted."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> LocalCall[T]:
        self.names.append(function.__name__)
        return super().submit(function, *args, **kwargs)


def test_a_run_over_many_repositories_has_tens_of_calls(tmp_path: Path):
    for number in range(60):
        folder = tmp_path / f"repository{number}"
        folder.mkdir()
        (folder / "one.py").write_text("def same():\n    return 1\n")
    executor = CountingExecutor()
    report = index(tmp_path, *sorted(tmp_path.glob("repository*")), executor=executor)
    assert len(report.repositories) == 60
    assert sum(entry.embeddings_new for entry in report.repositories) == 1
    assert 4 < len(executor.names) < 80
    assert set(executor.names) == {"scan_group", "chunk_group", "embed_group", "load_all"}
