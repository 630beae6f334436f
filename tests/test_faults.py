"""Faults of the machine: no space, a read-only disk, a repository that goes away, a clock that jumps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from database_equality import differences
from repositories import commit, git, make_repository
from tiny_models import build_misbehaving

from repolake import database, pipeline
from repolake.database_files import published_path
from repolake.errors import (
    DatabaseError,
    LakeWriteError,
    ModelError,
    PublishError,
    RepositoryNotFoundError,
    SourceError,
)
from repolake.executor import LocalCall, LocalExecutor
from repolake.lake import Lake
from repolake.manifest import new_run_id
from repolake.publishing import rebuild
from repolake.records import RepositorySpec
from repolake.search import open_index
from repolake.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")


def settings_for(folder: Path) -> Settings:
    return Settings(data_dir=folder, model="fast", snapshots_per_ref=1)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 MB of its own."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)], check=False)
    if mounted.returncode != 0:
        pytest.skip("only root may mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill(disk: Path, bytes_left: int) -> Path:
    filler = disk / "filler"
    with filler.open("wb") as file:
        file.write(b"x" * (shutil.disk_usage(disk).free - bytes_left))
    return filler


@pytest.mark.parametrize("bytes_left", [0, 20_000, 200_000])
def test_a_full_disk_leaves_the_published_index_and_the_next_run_heals(small_disk: Path, bytes_left: int):
    shop = make_repository(small_disk.parent / "shop")
    specs = [RepositorySpec(str(shop))]
    settings = settings_for(small_disk / "data")
    pipeline.index(specs, settings=settings)
    before = published_path(settings.data_dir)
    assert before is not None
    words = "\n".join(f"NAME_{n} = {n * 7919}" for n in range(8000))
    commit(shop, {"new.py": f"def new():\n    return 'new'\n\n\n{words}\n"})
    filler = fill(small_disk, bytes_left)
    with pytest.raises((LakeWriteError, PublishError)):
        pipeline.index(specs, settings=settings)
    assert published_path(settings.data_dir) == before
    assert database.check(before, memory_limit="1GB", threads=1) == {}
    filler.unlink()
    pipeline.index(specs, settings=settings)
    fresh = settings_for(small_disk.parent / "fresh")
    pipeline.index(specs, settings=fresh)
    one, other = published_path(settings.data_dir), published_path(fresh.data_dir)
    assert one is not None
    assert other is not None
    assert differences(one, other) == []


def test_a_read_only_disk_is_one_sentence_and_readers_go_on(small_disk: Path):
    shop = make_repository(small_disk.parent / "shop")
    settings = settings_for(small_disk / "data")
    pipeline.index([RepositorySpec(str(shop))], settings=settings)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(LakeWriteError, match="Read-only file system"):
        pipeline.index([RepositorySpec(str(shop))], settings=settings)
    published = published_path(settings.data_dir)
    assert published is not None
    assert database.check(published, memory_limit="1GB", threads=1) == {}


class Meddler(LocalExecutor):
    """Does something once, right before the first call of one stage."""

    def __init__(self, stage: str, deed: Callable[[], object]) -> None:
        self.stage = stage
        self.deeds = [deed]

    def submit(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> LocalCall[T]:
        if function.__name__ == self.stage and self.deeds:
            self.deeds.pop()()
        return super().submit(function, *args, **kwargs)


@pytest.mark.parametrize("stage", ["chunk_group", "embed_group", "load_all"])
def test_a_repository_that_vanishes_during_the_run_does_not_stop_the_others(tmp_path: Path, stage: str):
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    settings = settings_for(tmp_path / "data")
    specs = [RepositorySpec(str(shop)), RepositorySpec(str(blog))]
    pipeline.index(specs, settings=settings)
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    commit(blog, {"more.py": "def more():\n    return 'more'\n"})
    meddler = Meddler(stage, lambda: shop.rename(tmp_path / "away"))
    report = pipeline.index(specs, settings=settings, executor=meddler)
    assert {entry.repository for entry in report.repositories if entry.chunks} >= {"blog"}
    if stage == "chunk_group":  # later stages do not read the repository
        [failure] = report.failures
        assert (failure.repository, failure.path) == ("shop", ".")
        assert failure.error.endswith("; its last snapshot stays in the index")
        with open_index(settings.data_dir) as session:
            assert session.search("send_invoice", k=1)[0].path == "shop/mail.py"
    published = published_path(settings.data_dir)
    assert published is not None
    assert database.check(published, memory_limit="1GB", threads=1) == {}
    (tmp_path / "away").rename(shop)
    assert not pipeline.index(specs, settings=settings).failures


def test_a_new_repository_that_vanishes_before_it_is_read_publishes_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    settings = settings_for(tmp_path / "data")
    meddler = Meddler("chunk_group", lambda: shop.rename(tmp_path / "away"))
    with pytest.raises(SourceError, match=r"run again when it can be read$"):
        pipeline.index([RepositorySpec(str(shop))], settings=settings, executor=meddler)
    assert published_path(settings.data_dir) is None


@pytest.mark.parametrize("stage", ["chunk_group", "embed_group"])
def test_a_repository_that_changes_during_the_run_is_indexed_as_it_was_scanned(tmp_path: Path, stage: str):
    shop = make_repository(tmp_path / "shop")
    scanned = git(shop, "rev-parse", "HEAD")
    settings = settings_for(tmp_path / "data")

    def force_push() -> None:
        git(shop, "commit", "--quiet", "--amend", "--allow-empty", "--message", "Another")
        commit(shop, {"shop/cart.py": None, "new.py": "def new():\n    return 'new'\n"})

    report = pipeline.index(
        [RepositorySpec(str(shop))], settings=settings, executor=Meddler(stage, force_push)
    )
    assert [(entry.commit, entry.files_indexed) for entry in report.repositories] == [(scanned, 4)]
    assert not report.failures
    [entry] = pipeline.index([RepositorySpec(str(shop))], settings=settings).repositories
    assert entry.commit != scanned


def test_a_clock_that_was_set_back_does_not_hide_the_newer_run(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    settings = settings_for(tmp_path / "data")
    run_id = pipeline.index([RepositorySpec(str(shop))], settings=settings).run_id
    lake = Lake(settings.data_dir)
    path = lake.runs_dir / f"{run_id}.json"
    later = "20991231T235959-aaaaaa"  # as if the clock had been there at the first run
    path.with_name(f"{later}.json").write_text(
        path.read_text().replace(f'"run_id": "{run_id}"', f'"run_id": "{later}"')
    )
    path.unlink()
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    report = pipeline.index([RepositorySpec(str(shop))], settings=settings)
    latest = lake.latest_manifest()
    assert latest is not None
    assert latest.run_id == report.run_id
    assert pipeline.index([RepositorySpec(str(shop))], settings=settings).is_unchanged
    assert database.rollback(settings.data_dir).name < Path(report.database).name


def test_a_run_id_sorts_behind_the_one_before_whatever_the_clock_says():
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert new_run_id(now).startswith("20260102T030405-")
    assert new_run_id(now, "20260101T000000-abcdef").startswith("20260102T030405-")
    assert new_run_id(now, "20301231T235959-abcdef").startswith("20310101T000000-")
    assert new_run_id(now, "20260102T030405-ffffff").startswith("20260102T030406-")


def test_moving_or_mounting_the_data_folder_elsewhere_changes_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    pipeline.index([RepositorySpec(str(shop))], settings=settings_for(tmp_path / "data"))
    moved = (tmp_path / "data").rename(tmp_path / "elsewhere")
    report = pipeline.index([RepositorySpec(str(shop))], settings=settings_for(moved))
    assert report.is_unchanged
    assert report.notes == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can tell another user's folder")
def test_a_data_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(LakeWriteError, match="the published index is untouched"):
        pipeline.index(
            [RepositorySpec(str(make_repository(tmp_path / "shop")))],
            settings=settings_for(tmp_path / "file" / "data"),
        )


def test_a_run_that_ends_with_an_error_is_failed_and_not_running_for_good(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    model = build_misbehaving(tmp_path / "model")
    settings = settings_for(tmp_path / "data")
    settings = settings.model_copy(update={"model": str(model), "trust_remote_code": str(model)})
    specs = [RepositorySpec(str(shop))]
    lake = Lake(settings.data_dir)
    (model / "fail_first.log").write_text("1000000")
    with pytest.raises(ModelError, match="injected failure"):
        pipeline.index(specs, settings=settings)
    first = lake.latest_manifest()
    assert first is not None
    assert (first.state, first.repositories, first.finished_at is None) == ("failed", (), False)
    (model / "fail_first.log").write_text("0")
    pipeline.index(specs, settings=settings)
    last = lake.latest_manifest()
    assert last is not None
    assert (last.state, last.sequence) == ("complete", first.sequence + 1)


def test_a_damaged_database_is_an_error_that_names_the_way_out(tmp_path: Path):
    settings = settings_for(tmp_path / "data")
    pipeline.index([RepositorySpec(str(make_repository(tmp_path / "shop")))], settings=settings)
    path = published_path(settings.data_dir)
    assert path is not None
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(DatabaseError, match="`repolake rebuild` makes it anew"):
        open_index(settings.data_dir)
    rebuild(settings=settings)
    with open_index(settings.data_dir) as index:
        assert index.search("total", mode="text")


@contextmanager
def forbidden(folder: Path) -> Iterator[None]:
    """A folder that nobody may enter but root."""
    mode = folder.stat().st_mode
    folder.chmod(0)
    try:
        yield
    finally:
        folder.chmod(mode)


def without_right_to_everything(command: list[str]) -> list[str]:
    """Return a command that root runs without its right to read what it may not."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", *command]


@pytest.mark.parametrize("is_repository", [True, False], ids=["git", "folder"])
@pytest.mark.parametrize("forbid_parent", [False, True], ids=["itself", "parent"])
def test_a_repository_that_may_not_be_read_fails_alone_and_keeps_its_snapshot(
    tmp_path: Path, is_repository: bool, forbid_parent: bool
):
    shop, other = tmp_path / "disk" / "shop", tmp_path / "other"
    if is_repository:
        make_repository(shop)
    for folder in (shop, other):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.py").write_text(f"def of_{folder.name}(): ...\n")
    data = tmp_path / "data"
    pipeline.index([RepositorySpec(str(shop)), RepositorySpec(str(other))], settings=settings_for(data))
    (other / "a.py").write_text("def came_later(): ...\n")
    command = [sys.executable, "-m", "repolake", "index", "--data-dir", str(data)]
    with forbidden(shop.parent if forbid_parent else shop):
        run = subprocess.run(
            without_right_to_everything(command),
            cwd=Path(__file__).parent.parent,
            capture_output=True,
            text=True,
            check=False,
        )
    assert run.returncode == 1, run.stderr
    manifest = Lake(data).latest_manifest()
    assert manifest is not None
    (failure,) = manifest.failures
    assert failure.repository == "shop"
    assert str(shop) in failure.error
    assert "Permission denied" in failure.error
    with open_index(data) as index:
        assert [hit.repository for hit in index.search("of_shop", k=1)] == ["shop"]
        assert [hit.symbol for hit in index.search("came_later", k=1)] == ["came_later"]


def test_a_location_that_leads_in_a_circle_is_one_sentence(tmp_path: Path):
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(SourceError, match="circle: Too many levels of symbolic links"):
        pipeline.index([RepositorySpec(str(circle))], settings=settings_for(tmp_path / "data"))


def test_a_location_below_the_home_of_nobody_is_one_sentence(tmp_path: Path):
    with pytest.raises(RepositoryNotFoundError, match="~nobody-knows-them/shop does not exist"):
        pipeline.index([RepositorySpec("~nobody-knows-them/shop")], settings=settings_for(tmp_path / "data"))
