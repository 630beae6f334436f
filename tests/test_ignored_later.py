"""Tracked files that a `.gitignore` names: before or after they were added."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_repositories import commit, git, make_repository, put, scanned

SOURCE = "def kept():\n    return 1\n"
MODES = pytest.mark.parametrize("worktree", [False, True], ids=["commit", "worktree"])


@MODES
def test_a_file_that_was_ignored_after_it_was_added_goes_and_comes_back(
    tmp_path: Path, worktree: bool
) -> None:
    repository = make_repository(tmp_path / "r", {"gen/g.py": SOURCE, "a.py": "a = 1\n"})
    first = scanned(repository, tmp_path / "lake", worktree=worktree)
    put(repository, {".gitignore": "gen/\n"})
    commit(repository, "second")
    second = scanned(repository, tmp_path / "lake", worktree=worktree, previous=first.snapshot)
    (repository / ".gitignore").unlink()
    commit(repository, "third")
    third = scanned(repository, tmp_path / "lake", worktree=worktree, previous=second.snapshot)

    assert first.indexed == third.indexed == {"gen/g.py", "a.py"}
    assert second.indexed == {"a.py", ".gitignore"}
    assert second.rows["gen/g.py"]["skip_reason"] == "ignored"
    assert second.rows["gen/g.py"]["skip_rule"] == ".gitignore:1:gen/"


@MODES
def test_a_file_that_was_forced_in_past_a_gitignore_stays(tmp_path: Path, worktree: bool) -> None:
    repository = make_repository(
        tmp_path / "r", {"app/.gitignore": "logstash\n", "app/lib/logstash/out.rb": SOURCE}
    )
    put(repository, {"app/.gitignore": "# sorted\n*.gem\nlogstash\n"})
    commit(repository, "the line moves")

    assert "app/lib/logstash/out.rb" in scanned(repository, tmp_path / "lake", worktree=worktree).indexed


@MODES
def test_our_own_ignore_file_wins_back_what_was_ignored_later(tmp_path: Path, worktree: bool) -> None:
    repository = make_repository(tmp_path / "r", {"gen/g.py": SOURCE, ".repolakeignore": "!gen/\n"})
    put(repository, {".gitignore": "gen/\n"})
    commit(repository, "second")

    assert "gen/g.py" in scanned(repository, tmp_path / "lake", worktree=worktree).indexed


def test_an_uncommitted_line_counts_in_a_work_tree_and_a_line_of_this_machine_does_not(
    tmp_path: Path,
) -> None:
    repository = make_repository(tmp_path / "r", {"gen/g.py": SOURCE, "own/o.py": SOURCE})
    put(repository, {".gitignore": "gen/\n", ".git/info/exclude": "own/\n", "new/n.py": SOURCE})
    git(repository, "add", "new/n.py")
    put(repository, {"new/.gitignore": "*.py\n"})

    found = scanned(repository, tmp_path / "lake", worktree=True)

    assert {"own/o.py", "new/n.py"} <= found.indexed
    assert found.rows["gen/g.py"]["skip_rule"] == ".gitignore:1:gen/"


def test_without_history_a_tracked_file_stays_in(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", {"gen/g.py": SOURCE})
    put(repository, {".gitignore": "gen/\n"})
    commit(repository, "second")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository}", "shallow")

    assert "gen/g.py" in scanned(tmp_path / "shallow", tmp_path / "lake").indexed
    unread = scanned(repository, tmp_path / "other", settings={"history_commit_limit": 0})
    assert "gen/g.py" in unread.indexed


def test_a_tree_with_names_that_lead_out_of_it_writes_nothing_there(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", {".gitignore": "gen/\n", "a.py": SOURCE})
    blob = git(repository, "rev-parse", "HEAD:a.py")
    inner = _tree(repository, f"100644 blob {blob}\t.gitignore\n100644 blob {blob}\tx.py\n")
    outer = _tree(repository, f"100644 blob {blob}\t.gitignore\n040000 tree {inner}\t..\n")
    made = git(repository, "commit-tree", outer, "-m", "crafted")
    git(repository, "update-ref", "refs/heads/crafted", made)

    found = scanned(repository, tmp_path / "lake", "crafted")

    assert set(found.rows) == {".gitignore", "../.gitignore", "../x.py"}


def _tree(repository: Path, listing: str) -> str:
    source = repository.parent / "listing"
    source.write_text(listing, encoding="utf-8")
    return git(repository, "hash-object", "-t", "tree", "-w", "--literally", str(_raw(source)))


def _raw(listing: Path) -> Path:
    """Return a file with the raw tree object of a listing: git's own mktree refuses `..`."""
    rows = []
    for line in listing.read_text(encoding="utf-8").splitlines():
        head, name = line.split("\t")
        mode, _, object_id = head.split(" ")
        rows.append(f"{mode.lstrip('0')} {name}\0".encode() + bytes.fromhex(object_id))
    raw = listing.with_name("raw")
    raw.write_bytes(b"".join(rows))
    return raw
