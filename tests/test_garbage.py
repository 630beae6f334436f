"""Garbage collection: what leaves, what stays, compaction, purging a content for good."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from database_equality import differences
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.database import open_read_only
from repolake.database_files import published_path
from repolake.errors import IndexMissingError, LakeBusyError, UnknownNameError
from repolake.garbage import collect_garbage
from repolake.lake import Lake
from repolake.progress import SilentProgress
from repolake.records import Chunker, GarbageReport, RepositorySpec, RunReport
from repolake.search import open_index
from repolake.settings import Settings
from repolake.side_index import build_side_index

SECRET = "def connect():\n    return 'walrus-hunter-2'\n"  # noqa: S105  # of a test


def settings_for(tmp_path: Path, **values: object) -> Settings:
    chosen: dict[str, object] = {"gc_grace_hours": 0, **values}
    return Settings(data_dir=tmp_path / "data", model="fast", **chosen)  # type: ignore[arg-type]


def index(tmp_path: Path, *locations: Path, **values: object) -> RunReport:
    specs = [RepositorySpec(str(location)) for location in locations]
    return pipeline.index(specs, settings=settings_for(tmp_path, **values))


def gc(tmp_path: Path, *blobs: str, **values: object) -> GarbageReport:
    return collect_garbage(settings=settings_for(tmp_path, **values), purge_blobs=blobs)


def published(tmp_path: Path) -> Path:
    path = published_path(tmp_path / "data")
    assert path is not None
    return path


def shards(tmp_path: Path, kind: str) -> list[Path]:
    return sorted((tmp_path / "data" / "lake" / kind).glob("*/*.parquet"))


def bytes_with(folder: Path, text: str) -> list[Path]:
    """Files whose bytes, or whose Parquet values, hold a text."""
    found = []
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        content = str(pq.read_table(path).to_pydict()) if path.suffix == ".parquet" else ""
        if text in content or text.encode() in path.read_bytes():
            found.append(path)
    return found


def test_gc_without_an_index_says_so(tmp_path: Path):
    with pytest.raises(IndexMissingError):
        gc(tmp_path)


def test_gc_waits_for_no_run(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "shop"))
    with Lake(tmp_path / "data").lock(), pytest.raises(LakeBusyError):
        gc(tmp_path)


def test_gc_right_after_a_run_removes_nothing_that_is_needed(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    before = {*shards(tmp_path, "chunks"), *shards(tmp_path, "embeddings")}
    assert gc(tmp_path).removed == {}
    assert {*shards(tmp_path, "chunks"), *shards(tmp_path, "embeddings")} == before
    assert index(tmp_path, shop).is_unchanged


def test_what_only_expired_snapshots_needed_leaves_and_the_rest_stays(tmp_path: Path):
    walruses = {f"walrus{number}.py": f"{SECRET}\nN = {number}\n" for number in range(9)}
    shop = make_repository(tmp_path / "shop", {**SHOP, **walruses})
    index(tmp_path, shop)
    commit(shop, dict.fromkeys(walruses))
    index(tmp_path, shop)  # this snapshot is retained
    commit(shop, {"n.py": "def n():\n    return 1\n"})
    index(tmp_path, shop)
    report = gc(tmp_path)
    assert report.removed["snapshots"] == 1
    assert report.removed["databases"] == 2
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []
    assert index(tmp_path, shop).is_unchanged
    fresh = Settings(data_dir=tmp_path / "fresh", model="fast", snapshots_per_ref=1)
    pipeline.index([RepositorySpec(str(shop))], settings=fresh)
    index(tmp_path, shop, snapshots_per_ref=1)
    assert differences(published(tmp_path), published_path(tmp_path / "fresh")) == []  # type: ignore[arg-type]


def test_many_small_shards_become_few_and_nothing_is_made_again(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    for number in range(10):
        commit(shop, {f"n{number}.py": f"def number_{number}():\n    return {number}\n"})
        index(tmp_path, shop)
    assert len(shards(tmp_path, "chunks")) == len(shards(tmp_path, "embeddings")) == 10
    before = [shard.read_bytes() for shard in shards(tmp_path, "embeddings")]
    assert len(before) == 10
    gc(tmp_path)
    assert len(shards(tmp_path, "chunks")) == len(shards(tmp_path, "embeddings")) == 1
    commit(shop, {"last.py": "def last():\n    return 'last'\n"})
    [entry] = index(tmp_path, shop).repositories
    assert (entry.chunks_new, entry.embeddings_new) == (1, 1)
    fresh = Settings(data_dir=tmp_path / "fresh", model="fast")
    pipeline.index([RepositorySpec(str(shop))], settings=fresh)
    index(tmp_path, shop, snapshots_per_ref=1)
    commit(shop, {})
    index(tmp_path, shop, snapshots_per_ref=1)
    pipeline.index([RepositorySpec(str(shop))], settings=fresh.model_copy(update={"snapshots_per_ref": 1}))
    assert differences(published(tmp_path), published_path(tmp_path / "fresh")) == []  # type: ignore[arg-type]


def test_rows_that_stand_twice_after_a_crash_in_compaction_stand_once_after_the_next(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    [shard] = shards(tmp_path, "embeddings")
    rows = pq.read_metadata(shard).num_rows
    shard.with_name(f"9{shard.name}").write_bytes(shard.read_bytes())
    gc(tmp_path)
    assert [pq.read_metadata(path).num_rows for path in shards(tmp_path, "embeddings")] == [rows]


def test_the_work_of_a_dead_run_stays_for_the_grace_period(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    kept = Lake(tmp_path / "data").latest_manifest()
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    index(tmp_path, shop)
    lake = Lake(tmp_path / "data")
    latest = lake.latest_manifest()
    assert kept is not None
    assert latest is not None
    (lake.runs_dir / f"{latest.run_id}.json").unlink()  # as if the run had died before it
    gc(tmp_path, gc_grace_hours=1)
    report = index(tmp_path, shop)
    assert report.repositories[0].embeddings_new == 0
    (lake.runs_dir / f"{report.run_id}.json").unlink()
    gc(tmp_path, gc_grace_hours=0)
    assert index(tmp_path, shop).repositories[0].embeddings_new == 1


def test_another_chunking_stays_for_the_grace_period_and_then_leaves(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    pipeline.index([], settings=settings_for(tmp_path), chunker=Chunker.FIXED)
    assert len({path.parent for path in shards(tmp_path, "chunks")}) == 2
    gc(tmp_path, gc_grace_hours=1)
    assert len({path.parent for path in shards(tmp_path, "chunks")}) == 2
    gc(tmp_path)
    assert len({path.parent for path in shards(tmp_path, "chunks")}) == 1


def test_replaced_databases_stay_for_the_grace_period_and_open_readers_read_on(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    old = published(tmp_path)
    reader = open_read_only(old)
    commit(shop, {"new.py": "def new():\n    return 'new'\n"})
    index(tmp_path, shop)
    gc(tmp_path, gc_grace_hours=48)
    assert old.exists()
    three_days_ago = time.time() - 72 * 3600
    os.utime(old, (three_days_ago, three_days_ago))
    gc(tmp_path, gc_grace_hours=48)
    assert not old.exists()
    assert reader.execute("select count(*) from chunks").fetchone()[0] > 4  # type: ignore[index]
    reader.close()


def test_what_dead_runs_left_half_written_leaves_at_once(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "shop"))
    data, lake = tmp_path / "data", tmp_path / "data" / "lake"
    [chunks], [vectors] = (lake / "chunks").iterdir(), (lake / "embeddings").iterdir()
    left = [lake / "snapshots" / "_1-a-b.parquet", lake / "runs" / "_1-a-b.json", chunks / "_1-a-b.parquet"]
    left += [vectors / "_1-a-b.parquet", data / "_index-dead.duckdb", data / "_index-dead.duckdb.wal"]
    for path in left:
        path.write_bytes(b"half")
    gc(tmp_path, gc_grace_hours=48)
    assert [path for path in left if path.exists()] == []


def test_the_history_of_the_newest_runs_is_kept(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    ids = [index(tmp_path, shop).run_id for _ in range(5)]
    assert gc(tmp_path, runs_kept=2).removed["runs"] == 3
    assert [manifest.run_id for manifest in Lake(tmp_path / "data").manifests()] == ids[-2:]


def test_a_mirror_that_no_repository_needs_leaves(tmp_path: Path):
    url = make_repository(tmp_path / "shop").as_uri()
    blog = make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})
    settings = settings_for(tmp_path)
    pipeline.index([RepositorySpec(url), RepositorySpec(str(blog))], settings=settings)
    gc(tmp_path)
    assert len(list((tmp_path / "data" / "mirrors").iterdir())) == 1
    pipeline.remove("shop", settings=settings)
    assert gc(tmp_path).removed["mirrors"] == 1
    assert list((tmp_path / "data" / "mirrors").iterdir()) == []


def test_a_purged_blob_leaves_every_file_and_does_not_come_back(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {**SHOP, "walrus.py": SECRET})
    blob = git(shop, "rev-parse", "HEAD:walrus.py")
    index(tmp_path, shop)
    commit(shop, {"n.py": "def n():\n    return 1\n"})
    index(tmp_path, shop)
    assert bytes_with(tmp_path / "data", "walrus-hunter")
    report = gc(tmp_path, blob, gc_grace_hours=48)
    assert report.purged == (blob,)
    assert report.database == published(tmp_path).name
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []
    with open_index(tmp_path / "data") as session:
        assert session.search("walrus hunter", mode="text") == []
        rows = session.sql("select path, decision, skip_reason from inventory where skip_reason = 'purged'")
        assert rows.to_pylist() == [{"path": "walrus.py", "decision": "skipped", "skip_reason": "purged"}]
    assert index(tmp_path, shop).is_unchanged
    commit(shop, {"n.py": "def n():\n    return 2\n", "copy.py": SECRET})
    report_after = index(tmp_path, shop)
    assert report_after.repositories[0].embeddings_new == 1
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []


def test_a_text_that_another_blob_shares_stays_when_a_blob_is_purged(tmp_path: Path):
    shared = "def shared():\n    return 'shared'\n"
    files = {"a/one.py": shared, "b/one.py": f"{shared}\n\ndef more():\n    return 'walrus-hunter'\n"}
    shop = make_repository(tmp_path / "shop", files)
    index(tmp_path, shop)
    gc(tmp_path, git(shop, "rev-parse", "HEAD:b/one.py"))
    with open_index(tmp_path / "data") as session:
        assert {hit.path for hit in session.search("shared", mode="vector")} == {"a/one.py"}
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []


def test_a_purge_that_was_interrupted_goes_on_at_the_next_gc(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {**SHOP, "walrus.py": SECRET})
    blob = git(shop, "rev-parse", "HEAD:walrus.py")
    index(tmp_path, shop)
    marks = tmp_path / "data" / "lake" / "purged"
    marks.mkdir()
    (marks / f"{blob}.pending").touch()
    assert gc(tmp_path).purged == (blob,)
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []
    assert gc(tmp_path).purged == ()


def test_a_blob_that_nobody_knows_is_refused_and_nothing_changes(tmp_path: Path):
    index(tmp_path, make_repository(tmp_path / "shop"))
    before = published(tmp_path)
    with pytest.raises(UnknownNameError, match="no blob"):
        gc(tmp_path, "f" * 40)
    assert published(tmp_path) == before
    assert Lake(tmp_path / "data").purged_blobs() == frozenset()


def test_a_folder_leaves_a_purged_content_out_too(tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "walrus.py").write_text(SECRET)
    (folder / "shop.py").write_text(SHOP["shop/cart.py"])
    index(tmp_path, folder)
    with open_index(tmp_path / "data") as session:
        [row] = session.sql("select blob from files where path = 'walrus.py'").to_pylist()
    gc(tmp_path, row["blob"])
    assert index(tmp_path, folder).is_unchanged
    (folder / "again.py").write_text(SECRET)
    index(tmp_path, folder)
    assert bytes_with(tmp_path / "data", "walrus-hunter") == []


def test_what_a_side_index_of_an_evaluation_rests_on_stays(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop)
    settings = settings_for(tmp_path)
    arguments = {"chunker": Chunker.FIXED, "model": "fast", "chunk_tokens": 128}

    def build() -> Path:
        return build_side_index(
            tmp_path / "data",
            settings=settings,
            progress=SilentProgress(),
            **arguments,  # type: ignore[arg-type]
        )

    side = build()
    before = published_path(side)
    gc(tmp_path)
    assert build() == side
    assert published_path(side) == before
    with pytest.raises(UnknownNameError, match="side index"):
        collect_garbage(settings=settings.model_copy(update={"data_dir": side}))
