"""A lake that was damaged: what is found, set aside and made again, in the same run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from database_equality import differences
from repositories import SHOP, commit, make_repository

from repolake import pipeline
from repolake.database_files import published_path
from repolake.errors import LakeFormatError
from repolake.garbage import collect_garbage
from repolake.lake import Lake
from repolake.records import RepositorySpec, RunReport
from repolake.settings import Settings
from repolake.status import read_status


def settings_for(folder: Path) -> Settings:
    return Settings(data_dir=folder, model="fast", snapshots_per_ref=1)


def index(tmp_path: Path, *locations: Path) -> RunReport:
    specs = [RepositorySpec(str(location)) for location in locations]
    return pipeline.index(specs, settings=settings_for(tmp_path / "data"))


def assert_as_from_scratch(tmp_path: Path, *locations: Path) -> None:
    specs = [RepositorySpec(str(location)) for location in locations]
    pipeline.index(specs, settings=settings_for(tmp_path / "fresh"))
    one, other = published_path(tmp_path / "data"), published_path(tmp_path / "fresh")
    assert one is not None
    assert other is not None
    assert differences(one, other) == []


@pytest.fixture(scope="module")
def indexed_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A repository, and the data folder of its index; tests copy the folder and change neither."""
    folder = tmp_path_factory.mktemp("indexed")
    shop = make_repository(folder / "shop")
    index(folder, shop)
    return shop, folder / "data"


@pytest.fixture
def indexed(tmp_path: Path, indexed_once: tuple[Path, Path]) -> Path:
    """The repository whose index is in the data folder of this test; it must stay as it is."""
    shop, data = indexed_once
    shutil.copytree(data, tmp_path / "data", symlinks=True)
    return shop


def last_manifest(tmp_path: Path) -> Path:
    return max((tmp_path / "data" / "lake" / "runs").glob("*.json"))


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def remove(path: Path) -> None:
    path.unlink()


def replace_by_text(path: Path) -> None:
    path.write_bytes(b"<html>" * (path.stat().st_size // 6 + 1))


def replace_by_another_schema(path: Path) -> None:
    pq.write_table(pa.table({"other": [1, 2]}), path)


def turn_a_bit_inside_a_page(path: Path) -> None:
    column = pq.read_metadata(path).row_group(0).column(0)
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start + column.total_compressed_size - 3] ^= 0xFF
    path.write_bytes(data)


def folders_of(tmp_path: Path, kind: str) -> list[Path]:
    return sorted((tmp_path / "data" / "lake" / kind).rglob("*.parquet"))


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("snapshots", truncate),
        ("chunks", truncate),
        ("embeddings", truncate),
        ("snapshots", replace_by_text),
        ("chunks", empty),
        ("embeddings", replace_by_another_schema),
        ("chunks", remove),
        ("embeddings", remove),
    ],
)
def test_a_damaged_shard_is_made_again_by_the_next_run_although_nothing_changed(
    tmp_path: Path, indexed: Path, kind: str, damage: Callable[[Path], None]
):
    [shard] = folders_of(tmp_path, kind)
    rows = pq.read_metadata(shard).num_rows
    damage(shard)
    report = index(tmp_path, indexed)
    assert shard.name in report.notes[0]
    assert sum(pq.read_metadata(path).num_rows for path in folders_of(tmp_path, kind)) == rows
    assert len(list((tmp_path / "data" / "lake" / "quarantine").glob("*"))) == (damage is not remove)
    assert index(tmp_path, indexed).notes == ()


@pytest.mark.parametrize("kind", ["chunks", "embeddings"])
def test_damage_inside_a_page_is_found_before_it_is_published(tmp_path: Path, kind: str):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    [shard] = folders_of(tmp_path, kind)
    turn_a_bit_inside_a_page(shard)
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    report = index(tmp_path, shop)
    assert shard.name in report.notes[0]
    assert_as_from_scratch(tmp_path, shop)


def test_gc_finds_damage_inside_a_page_and_the_next_run_makes_it_again(tmp_path: Path, indexed: Path):
    [shard] = folders_of(tmp_path, "snapshots")
    turn_a_bit_inside_a_page(shard)
    assert collect_garbage(settings=settings_for(tmp_path / "data")).damaged == (f"snapshots/{shard.name}",)
    [entry] = index(tmp_path, indexed).repositories
    assert (entry.chunks_new, entry.embeddings_new) == (0, 0)
    assert_as_from_scratch(tmp_path, indexed)


def test_shards_of_repositories_that_were_not_asked_for_are_made_again(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    index(tmp_path, shop, blog)
    for shard in (*folders_of(tmp_path, "chunks"), *folders_of(tmp_path, "embeddings")):
        shard.unlink()
    index(tmp_path, shop)
    assert_as_from_scratch(tmp_path, shop, blog)


def test_what_cannot_be_made_again_is_a_failure_and_the_rest_goes_on(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    index(tmp_path, shop, blog)
    blog.rename(tmp_path / "away")
    for shard in folders_of(tmp_path, "snapshots"):
        shard.unlink()
    report = index(tmp_path, shop)
    assert [(failure.repository, failure.path) for failure in report.failures] == [("blog", ".")]
    assert {entry.repository for entry in report.repositories if entry.chunks} == {"shop"}
    (tmp_path / "away").rename(blog)
    report = index(tmp_path)
    assert not report.failures
    assert {entry.repository for entry in report.repositories if entry.chunks} == {"shop", "blog"}


def test_a_lost_lake_folder_is_made_again(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    shutil.rmtree(tmp_path / "data" / "lake" / "chunks")
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    index(tmp_path, shop)
    assert_as_from_scratch(tmp_path, shop)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"format": 1}', b"[1]", b'{"format": 1, "run_id": 3}'])
def test_a_manifest_that_is_none_is_set_aside(
    tmp_path: Path, indexed: Path, indexed_once: tuple[Path, Path], content: bytes
):
    manifest = last_manifest(tmp_path)
    manifest.write_bytes(content)
    report = index(tmp_path, indexed)
    assert [entry.embeddings_new for entry in report.repositories] == [0]
    assert manifest.read_bytes() != content if manifest.exists() else True
    one, other = published_path(tmp_path / "data"), published_path(indexed_once[1])  # as from scratch
    assert one not in {None, other}
    assert differences(one, other) == []  # type: ignore[arg-type]


def test_a_manifest_without_the_newest_fields_is_read(tmp_path: Path, indexed: Path):
    manifest = last_manifest(tmp_path)
    raw = json.loads(manifest.read_bytes())
    del raw["shards"]
    manifest.write_text(json.dumps(raw))
    assert index(tmp_path, indexed).is_unchanged


def test_a_lake_of_a_newer_version_is_refused_and_stays_as_it_is(tmp_path: Path, indexed: Path):
    manifest = last_manifest(tmp_path)
    raw = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps({**raw, "format": 99}))
    before = published_path(tmp_path / "data")
    with pytest.raises(LakeFormatError, match="has format 99"):
        index(tmp_path, indexed)
    with pytest.raises(LakeFormatError, match="upgrade repolake"):
        collect_garbage(settings=settings_for(tmp_path / "data"))
    assert published_path(tmp_path / "data") == before


def test_status_changes_nothing_in_a_damaged_lake(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {**SHOP})
    first = index(tmp_path, shop).run_id
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    index(tmp_path, shop)
    manifest = tmp_path / "data" / "lake" / "runs" / f"{first}.json"
    manifest.write_bytes(b"{")
    read_status(tmp_path / "data")
    assert manifest.read_bytes() == b"{"
    assert Lake(tmp_path / "data").latest_manifest() is not None
