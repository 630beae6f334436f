"""The last commit of each path, found in one pass."""

from __future__ import annotations

from pathlib import Path

from made_repositories import commit, git, make_repository, put, scanned


def _expected(repository: Path, path: str) -> tuple[float, str]:
    seconds, author = git(repository, "log", "-1", "--format=%ct %an", "--", path).split(" ", 1)
    return float(seconds), author


def _made(tmp_path: Path) -> Path:
    repository = make_repository(
        tmp_path / "own", {"a.py": "1\n", "b.py": "1\n", "old.py": "1\n", "m.py": "0\n" * 9}
    )
    put(repository, {"a.py": "2\n", "c\n\x01:d.py": "1\n"})
    commit(repository, "second", when=1_700_000_100, author="Bob : Ünal")
    git(repository, "switch", "--quiet", "--create", "side")
    put(repository, {"side.py": "1\n", "m.py": "side\n" + "0\n" * 9})
    commit(repository, "side", when=1_700_000_200, author="Cyd")
    git(repository, "switch", "--quiet", "main")
    put(repository, {"m.py": "0\n" * 9 + "main\n"})
    commit(repository, "main", when=1_700_000_300, author="Dan")
    git(repository, "merge", "--quiet", "--no-edit", "side", when=1_700_000_400)
    git(repository, "mv", "old.py", "new.py")
    commit(repository, "move", when=1_700_000_500, author="Eve")
    return repository


def test_each_path_has_the_last_commit_that_git_log_names(tmp_path: Path) -> None:
    repository = _made(tmp_path)
    result = scanned(repository, tmp_path / "data")
    assert len(result.rows) == 6
    for path, row in result.rows.items():
        assert (row["last_commit_at"].timestamp(), row["last_author"]) == _expected(repository, path)
    assert result.rows["c\n\x01:d.py"]["last_author"] == "Bob : Ünal"


def test_a_limit_bounds_the_pass_and_older_files_have_no_date(tmp_path: Path) -> None:
    repository = _made(tmp_path)
    result = scanned(repository, tmp_path / "data", settings={"history_commit_limit": 1})
    assert {path for path, row in result.rows.items() if row["last_commit_at"]} == {"new.py"}
    none = scanned(repository, tmp_path / "data", settings={"history_commit_limit": 0})
    assert not any(row["last_author"] for row in none.rows.values())


def test_the_files_of_a_work_tree_have_the_dates_of_their_commits(tmp_path: Path) -> None:
    repository = _made(tmp_path)
    put(repository, {"untracked.py": "1\n"})
    result = scanned(repository, tmp_path / "data", worktree=True)
    assert result.rows["new.py"]["last_author"] == "Eve"
    assert result.rows["untracked.py"]["last_author"] is None
