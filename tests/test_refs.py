"""Branches of one repository: shared work, no leaks, refs that come and go, retention."""

from __future__ import annotations

from pathlib import Path

import pytest
from database_equality import differences
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.database_files import published_path
from repolake.lake import Lake
from repolake.records import RepositorySpec, RunReport
from repolake.search import open_index
from repolake.settings import Settings

STOCK = {"shop/stock.py": "def count_walrus_stock():\n    return 3\n"}


def index(tmp_path: Path, *specs: RepositorySpec, whole: bool = False, **values: object) -> RunReport:
    settings = Settings(data_dir=tmp_path / "data", model="fast", **values)  # type: ignore[arg-type]
    return pipeline.index(specs, settings=settings, is_whole_list=whole)


def refs(tmp_path: Path) -> set[str]:
    manifest = Lake(tmp_path / "data").latest_manifest()
    assert manifest is not None
    return {snapshot.ref for snapshot in manifest.snapshots}


def found(tmp_path: Path, query: str, mode: str, ref: str | None) -> set[str]:
    with open_index(tmp_path / "data") as session:
        return {hit.text for hit in session.search(query, k=50, mode=mode, ref=ref) if "walrus" in hit.text}


def shop_with_feature(tmp_path: Path) -> Path:
    """Main has SHOP; feature changes the mail, adds a stock and deletes the test."""
    shop = make_repository(tmp_path / "shop")
    git(shop, "switch", "--quiet", "--create", "feature")
    changed = SHOP["shop/mail.py"] + "\n\ndef send_walrus(customer):\n    return customer\n"
    commit(shop, {**STOCK, "shop/mail.py": changed, "tests/test_cart.py": None})
    git(shop, "switch", "--quiet", "main")
    return shop


@pytest.mark.parametrize("mode", ["text", "vector", "hybrid"])
def test_no_result_of_a_branch_leaks_into_another(tmp_path: Path, mode: str):
    shop = shop_with_feature(tmp_path)
    index(tmp_path, RepositorySpec(str(shop), refs=("main", "feature")))
    assert found(tmp_path, "walrus", mode, None) == set()
    assert found(tmp_path, "walrus", mode, "main") == set()
    assert len(found(tmp_path, "walrus", mode, "feature")) == 2
    with open_index(tmp_path / "data") as session:
        paths = {hit.path for hit in session.search("total price of a cart", k=50, mode=mode, ref="feature")}
    assert "tests/test_cart.py" not in paths


def test_a_twin_branch_costs_nothing_and_a_feature_its_own_changes(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    git(shop, "branch", "twin", "main")
    asked = [RepositorySpec(str(shop), refs=(ref,)) for ref in ("main", "feature", "twin", "main")]
    reports = [index(tmp_path, spec).repositories[0] for spec in asked]
    assert [report.embeddings_new for report in reports][1:] == [2, 0, 0]  # a function changed, one is new
    assert reports[0].embeddings_new == reports[0].chunks
    assert refs(tmp_path) == {"main", "feature", "twin"}


def test_a_deleted_branch_leaves_with_a_note_and_does_not_fail_later(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    spec = RepositorySpec(str(shop), refs=("main", "feature"))
    index(tmp_path, spec)
    git(shop, "branch", "--quiet", "-D", "feature")
    report = index(tmp_path, spec)
    assert not report.failures
    assert report.notes == ("shop has no ref feature any more: its snapshots leave the index",)
    assert refs(tmp_path) == {"main"}
    again = index(tmp_path, spec)  # the list still names it
    assert again.is_unchanged
    assert not again.failures


def test_a_branch_that_nobody_asked_for_this_time_leaves_when_it_is_deleted(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    index(tmp_path, RepositorySpec(str(shop)))
    index(tmp_path, RepositorySpec(str(shop), refs=("feature",)))
    assert refs(tmp_path) == {"main", "feature"}
    git(shop, "branch", "--quiet", "-D", "feature")
    index(tmp_path, RepositorySpec(str(shop)))
    assert refs(tmp_path) == {"main"}
    fresh = Settings(data_dir=tmp_path / "fresh", model="fast")
    pipeline.index([RepositorySpec(str(shop))], settings=fresh)
    one, other = published_path(tmp_path / "data"), published_path(tmp_path / "fresh")
    assert one is not None
    assert other is not None
    assert differences(one, other) == []


def test_a_branch_that_comes_back_costs_no_embedding(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    spec = RepositorySpec(str(shop), refs=("main", "feature"))
    index(tmp_path, spec)
    tip = git(shop, "rev-parse", "feature")
    git(shop, "branch", "--quiet", "-D", "feature")
    index(tmp_path, spec)
    git(shop, "branch", "feature", tip)
    report = index(tmp_path, spec)
    assert sum(entry.embeddings_new for entry in report.repositories) == 0
    assert len(found(tmp_path, "walrus", "text", "feature")) == 2


def test_a_renamed_default_branch_replaces_the_old_one(tmp_path: Path):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, RepositorySpec(str(shop)))
    git(shop, "branch", "--move", "main", "trunk")
    report = index(tmp_path, RepositorySpec(str(shop)))
    assert not report.failures
    assert refs(tmp_path) == {"trunk"}


def test_a_gone_default_branch_is_a_failure_and_its_snapshot_stays(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    spec = RepositorySpec(str(shop), refs=("main", "feature"))
    index(tmp_path, spec)
    git(shop, "switch", "--quiet", "feature")
    git(shop, "branch", "--quiet", "-D", "main")
    for _ in range(2):
        report = index(tmp_path, spec)
        assert [failure.path for failure in report.failures] == ["."]
        assert refs(tmp_path) == {"main", "feature"}


def test_a_misspelt_ref_fails_every_time(tmp_path: Path):
    spec = RepositorySpec(str(make_repository(tmp_path / "shop")), refs=("main", "featrue"))
    for _ in range(2):
        assert "no ref 'featrue'" in index(tmp_path, spec).failures[0].error


def test_a_ref_that_the_list_no_longer_names_leaves(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    index(tmp_path, RepositorySpec(str(shop), refs=("main", "feature")), whole=True)
    report = index(tmp_path, RepositorySpec(str(shop), refs=("main",)), whole=True)
    assert not report.is_unchanged
    assert refs(tmp_path) == {"main"}


def test_index_without_a_path_reads_every_known_ref(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    index(tmp_path, RepositorySpec(str(shop)))
    index(tmp_path, RepositorySpec(str(shop), refs=("feature",)))
    commit(shop, {"shop/one.py": "def on_main():\n    pass\n"})
    git(shop, "switch", "--quiet", "feature")
    commit(shop, {"shop/two.py": "def on_feature():\n    pass\n"})
    git(shop, "switch", "--quiet", "main")
    report = index(tmp_path)
    assert {(entry.ref, entry.embeddings_new) for entry in report.repositories} == {
        ("feature", 1),
        ("main", 1),
    }


@pytest.mark.parametrize("kept", [1, 3])
def test_a_ref_keeps_so_many_snapshots_and_searches_see_the_newest(tmp_path: Path, kept: int):
    shop = make_repository(tmp_path / "shop")
    ids = []
    for number in range(5):
        ids.append(commit(shop, {"shop/walrus.py": f"def walrus_{number}():\n    return {number}\n"}))
        index(tmp_path, RepositorySpec(str(shop)), snapshots_per_ref=kept)
    with open_index(tmp_path / "data") as session:
        rows = session.sql("select commit, is_current from snapshots").to_pylist()
    assert {(row["commit"], row["is_current"]) for row in rows} == {
        (commit_id, commit_id == ids[-1]) for commit_id in ids[-kept:]
    }
    assert found(tmp_path, "walrus", "text", None) == {"def walrus_4():\n    return 4"}


def test_another_chunking_keeps_a_repository_on_the_branch_that_head_names(tmp_path: Path):
    shop = shop_with_feature(tmp_path)
    index(tmp_path, RepositorySpec(str(shop)))
    index(tmp_path, RepositorySpec(str(shop), refs=("feature",)))
    index(tmp_path, RepositorySpec(str(shop)))
    other = RepositorySpec(str(make_repository(tmp_path / "blog", {"post.py": "def post():\n    pass\n"})))
    index(tmp_path, other, chunk_tokens=80)
    assert refs(tmp_path) == {"main", "feature"}
    git(shop, "branch", "--move", "main", "trunk")
    index(tmp_path)
    manifest = Lake(tmp_path / "data").latest_manifest()
    assert manifest is not None
    assert {(r.repository, r.default_ref) for r in manifest.repositories} == {
        ("shop", "trunk"),
        ("blog", "main"),
    }
    assert found(tmp_path, "walrus", "text", None) == set()
