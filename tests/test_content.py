"""How a run changes what a lake holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from repolake.content import Content, check_name
from repolake.errors import RepositoryNameError, UnknownNameError
from repolake.records import (
    Failure,
    Repository,
    RepositorySpec,
    ScanReport,
    Snapshot,
    Source,
    SourceMode,
    Stage,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def repository(name: str, **changes: str | None) -> Repository:
    base = Repository(name, f"/git/{name}", None, f"root-of-{name}", "main", NOW)
    return replace(base, **changes)  # type: ignore[arg-type]


def scanned(
    name: str, snapshot_id: str, ref: str = "main", day: int = 0
) -> tuple[RepositorySpec, ScanReport]:
    at = NOW + timedelta(days=day)
    snapshot = Snapshot(snapshot_id, name, ref, f"commit-{snapshot_id}", None, None, at, f"run-{day}")
    source = Source(f"/git/{name}", SourceMode.COMMIT, snapshot.commit)
    report = ScanReport(repository(name), snapshot, source, 1, 0, 10, 0.1, is_unchanged=False)
    return RepositorySpec(f"/git/{name}"), report


def states(content: Content) -> dict[str, bool]:
    return {snapshot.snapshot_id: snapshot.is_current for snapshot in content.snapshots}


def test_the_newest_snapshot_is_current_and_only_so_many_older_ones_stay():
    content = Content()
    for day, snapshot_id in enumerate(("a", "b", "c")):
        content = content.with_reports([scanned("shop", snapshot_id, day=day)], snapshots_per_ref=2)
    assert states(content) == {"c": True, "b": False}


def test_a_ref_that_returns_to_an_older_commit_makes_the_older_snapshot_current_again():
    content = Content()
    for day, snapshot_id in enumerate(("a", "b", "a")):
        content = content.with_reports([scanned("shop", snapshot_id, day=day)], snapshots_per_ref=2)
    assert states(content) == {"a": True, "b": False}


def test_repositories_and_refs_that_were_not_scanned_are_kept():
    content = Content().with_reports([scanned("shop", "s1"), scanned("blog", "b1")], 2)
    content = content.with_reports([scanned("shop", "s2", ref="feature", day=1)], 2)
    assert states(content) == {"b1": True, "s1": True, "s2": True}
    assert content.current_refs("shop") == ("feature", "main")
    shop = content.repository("shop")
    assert shop is not None
    assert shop.default_ref == "main"


def test_a_repository_of_which_only_another_ref_is_indexed_has_that_ref_as_default():
    content = Content().with_reports([scanned("shop", "s1", ref="release")], 2)
    shop = content.repository("shop")
    assert shop is not None
    assert shop.default_ref == "release"


def test_a_scan_clears_the_failures_of_its_own_repository_alone():
    failures = [Failure(name, "a.py", Stage.CHUNK, "too deep") for name in ("shop", "blog")]
    content = Content().with_reports([scanned("shop", "s1"), scanned("blog", "b1")], 2)
    content = content.with_failures(failures).with_reports([scanned("shop", "s2")], 2)
    assert content.failures == (failures[1],)


def test_a_forgotten_repository_leaves_nothing_behind():
    content = Content().with_reports([scanned("shop", "s1"), scanned("blog", "b1")], 2)
    content = content.with_failures([Failure("shop", "a.py", Stage.CHUNK, "too deep")]).without("shop")
    assert [entry.repository for entry in content.repositories] == ["blog"]
    assert [spec.name for spec in content.specs] == ["blog"]
    assert states(content) == {"b1": True}
    assert content.failures == ()
    with pytest.raises(UnknownNameError, match="it holds: blog"):
        content.without("shop")


def test_content_differs_by_a_failure_but_not_by_the_time_of_indexing():
    content = Content().with_reports([scanned("shop", "s1")], 2)
    later = Content().with_reports([scanned("shop", "s1", day=5)], 2)
    assert content.is_same(later)
    assert not content.is_same(content.with_failures([Failure("shop", "a.py", Stage.CHUNK, "too deep")]))


@pytest.mark.parametrize(
    ("known", "found"),
    [
        (repository("shop"), repository("shop", location="/elsewhere/shop")),
        (
            repository("shop", root_commit="one", remote_url="https://example.org/shop"),
            repository("shop", root_commit="two", remote_url="https://example.org/shop"),
        ),
        (repository("shop", root_commit=None), repository("shop", root_commit="first-commit-ever")),
    ],
    ids=["same root commit", "same remote", "a folder that became a repository"],
)
def test_one_repository_seen_twice_keeps_its_name(known: Repository, found: Repository):
    check_name(found, known)


def test_another_repository_of_the_same_name_is_refused():
    with pytest.raises(RepositoryNameError, match="--name"):
        check_name(repository("shop", location="/b/shop", root_commit="other"), repository("shop"))


def test_a_plain_folder_may_move_but_two_folders_of_one_name_are_refused(tmp_path: Path):
    there = repository("shop", location=str(tmp_path), root_commit=None)
    gone = repository("shop", location=str(tmp_path / "gone"), root_commit=None)
    found = repository("shop", location="/new/shop", root_commit=None)
    check_name(found, gone)
    with pytest.raises(RepositoryNameError, match="different repositories"):
        check_name(found, there)
