"""The folder source: ignore files as git obeys them, and every odd thing that a disk can hold."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_repositories import commit, git, make_repository, put, scanned

from repolake.errors import FileUnreadableError, RepositoryNotFoundError, ShrinkError, SourceError, UsageError
from repolake.folder import walk
from repolake.source import open_source


def test_nested_ignore_files_are_obeyed_and_the_line_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    put(
        folder,
        {
            ".gitignore": "/coverage\n/tools/*.py\nout/\n!out/keep.py\n",
            "web/.gitignore": ".output\n/deps/\n",
            "web/.output/x.py": "X = 1\n",
            "web/deps/x.py": "X = 1\n",
            "web/sub/deps/y.py": "Y = 1\n",
            "api/deps/x.py": "X = 1\n",
            "coverage/c.py": "C = 1\n",
            "src/coverage/c.py": "C = 1\n",
            "tools/a.py": "A = 1\n",
            "src/tools/b.py": "B = 1\n",
            "out/keep.py": "K = 1\n",
        },
    )
    result = scanned(folder, tmp_path / "data")
    assert result.indexed == {
        ".gitignore", "web/.gitignore", "web/sub/deps/y.py", "api/deps/x.py", "src/coverage/c.py",
        "src/tools/b.py",
    }  # fmt: skip
    assert {path: row["skip_rule"] for path, row in result.rows.items() if row["skip_reason"]} == {
        "web/.output": "web/.gitignore:1:.output",
        "web/deps": "web/.gitignore:2:/deps/",
        "coverage": ".gitignore:1:/coverage",
        "tools/a.py": ".gitignore:2:/tools/*.py",
        "out": ".gitignore:3:out/",
    }


_NAMES = st.sampled_from(["a", "b", "ab", "a.py", "b.py", "c.txt"])
_PATTERNS = st.lists(
    st.sampled_from(
        ["a", "/a", "a/", "*.py", "!a.py", "!b.py", "**/b", "a/**", "a/*", "!a/b", "/a/b.py", "[ab]", "!ab/",
         "*",
         "!*/", "a?", "#a", r"\!a", " a", "b/ ", "a/**/b.py"]
    ),
    max_size=5,
)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    paths=st.lists(st.lists(_NAMES, min_size=1, max_size=3), min_size=1, max_size=8),
    root_patterns=_PATTERNS,
    nested_patterns=_PATTERNS,
)
def test_a_folder_holds_exactly_the_files_that_git_would_add(
    tmp_path: Path, paths: list[list[str]], root_patterns: list[str], nested_patterns: list[str]
) -> None:
    folder = tmp_path / "plain"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for parts in paths:
        file = folder.joinpath(*parts)
        if not any(parent.is_file() for parent in file.parents) and not file.exists():
            put(folder, {"/".join(parts): "X = 1\n"})
    put(folder, {".gitignore": "\n".join(root_patterns)})
    if (folder / "a").is_dir():
        put(folder, {"a/.gitignore": "\n".join(nested_patterns)})
    walked = {entry.path for entry in walk(folder, None, tmp_path / "data") if entry.skip_reason is None}
    git(folder, "init", "--quiet")
    added = git(folder, "ls-files", "--others", "--exclude-standard", "-z")
    assert walked == {path for path in added.split("\0") if path}


def test_exclude_files_of_the_user_do_not_change_a_plain_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(
        tmp_path / "home", {".config/git/ignore": "*.py\n", ".gitconfig": "[core]\n\texcludesFile = ~/mine\n"}
    )
    put(tmp_path / "home", {"mine": "*.md\n"})
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    put(tmp_path / "plain", {"a.py": "A = 1\n", "b.md": "# B\n"})
    assert scanned(tmp_path / "plain", tmp_path / "data").indexed == {"a.py", "b.md"}


def test_a_work_tree_holds_tracked_files_and_untracked_ones_that_git_does_not_ignore(tmp_path: Path) -> None:
    repository = make_repository(
        tmp_path / "own",
        {
            ".gitignore": "out/\n*.log.py\n",
            "a.py": "A = 1\n",
            "out/tracked.py": "T = 1\n",
            "gone.py": "G = 1\n",
        },
    )
    put(
        repository,
        {
            "a.py": "A = 2\n",
            "new.py": "N = 1\n",
            "out/ignored.py": "I = 1\n",
            "x.log.py": "X = 1\n",
            "sub/out/o.py": "",
        },
    )
    put(repository, {".git/info/exclude": "private.py\n", "private.py": "P = 1\n"})
    (repository / "gone.py").unlink()
    result = scanned(repository, tmp_path / "data", worktree=True)
    assert result.indexed == {".gitignore", "a.py", "out/tracked.py", "new.py"}
    assert result.skipped == dict.fromkeys(("out/ignored.py", "x.log.py", "sub/out", "private.py"), "ignored")
    with open_source(result.report.source) as source:
        assert source.read("a.py", result.rows["a.py"]["blob"]) == b"A = 2\n"


def test_links_are_rows_and_are_never_followed(tmp_path: Path) -> None:
    put(tmp_path / "outside", {"token.py": "SECRET = 1\n"})
    folder = tmp_path / "plain"
    put(folder, {"real.py": "R = 1\n", "a/x.py": "X = 1\n"})
    links = {
        "out.py": "../outside/token.py",
        "up": "../outside",
        "dead.py": "nowhere",
        "self": "self",
        "loop": ".",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    (folder / "a" / "back").symlink_to("../")
    result = scanned(folder, tmp_path / "data")
    assert result.indexed == {"real.py", "a/x.py"}
    assert result.skipped == dict.fromkeys((*links, "a/back"), "symlink")


def test_special_files_are_rows_and_are_never_opened(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    put(folder, {"a.py": "A = 1\n"})
    os.mkfifo(folder / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket.py"))
        result = scanned(folder, tmp_path / "data")
    assert result.indexed == {"a.py"}
    assert {path: result.rows[path]["skip_rule"] for path in result.skipped} == {
        "pipe.py": "FIFO",
        "socket.py": "socket",
    }


@contextmanager
def _as_nobody() -> Iterator[None]:
    """Root reads everything: give up that right for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("worktree", [False, True], ids=["folder", "worktree"])
def test_unreadable_files_and_folders_fail_alone_and_are_tried_again(
    tmp_path: Path, worktree: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o055)
    folder = tmp_path / "own"
    put(folder, {"a.py": "A = 1\n", "locked/s.py": "S = 1\n", "nope.py": "N = 1\n", "z.py": "Z = 1\n"})
    if worktree:
        make_repository(folder, {})
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    (folder / "locked").chmod(0)
    (folder / "nope.py").chmod(0)
    try:
        with _as_nobody():
            result = scanned(folder, data, worktree=worktree)
    finally:
        (folder / "locked").chmod(0o755)
        (folder / "nope.py").chmod(0o644)
    assert {"a.py", "z.py"} <= result.indexed
    assert set(result.failed) == {"locked", "nope.py"}
    assert all("Permission denied" in error for error in result.failed.values())
    assert {failure.path for failure in result.report.failures} == {"locked", "nope.py"}
    again = scanned(folder, data, worktree=worktree, previous=result.snapshot)
    assert {"locked/s.py", "nope.py"} <= again.indexed


def test_nested_repositories_and_the_data_folder_are_rows_and_are_not_entered(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    make_repository(folder / "other", {"o.py": "O = 1\n"})
    put(folder, {"a.py": "A = 1\n", ".repolake/lake/x.py": "X = 1\n", "lake-here/x.py": "X = 1\n"})
    result = scanned(folder, folder / "lake-here")
    assert result.indexed == {"a.py"}
    assert result.skipped == {"other": "nested_repository", ".repolake": "data_dir", "lake-here": "data_dir"}


def test_equal_content_is_one_snapshot_and_an_edit_that_keeps_size_and_time_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    put(folder, {"a.py": "WORD = 'old'\n", "b.py": "B = 1\n"})
    first = scanned(folder, tmp_path / "data")
    second = scanned(folder, tmp_path / "data", previous=first.snapshot)
    assert not first.report.is_unchanged
    assert second.report.is_unchanged
    assert second.snapshot == first.snapshot
    before = (folder / "a.py").stat()
    put(folder, {"a.py": "WORD = 'new'\n"})
    os.utime(folder / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    third = scanned(folder, tmp_path / "data", previous=first.snapshot)
    assert not third.report.is_unchanged
    assert third.rows["a.py"]["blob"] != first.rows["a.py"]["blob"]
    assert third.rows["b.py"] == first.rows["b.py"]


def test_blob_ids_on_disk_are_those_of_git(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", {"a.py": "A = 'é'\r\n", "empty.py": ""})
    on_disk = scanned(repository, tmp_path / "data", worktree=True)
    for path in ("a.py", "empty.py"):
        assert on_disk.rows[path]["blob"] == git(repository, "rev-parse", f"HEAD:{path}")


def test_a_file_that_changed_since_the_scan_is_not_read_as_the_old_blob(tmp_path: Path) -> None:
    put(tmp_path / "plain", {"a.py": "A = 1\n"})
    result = scanned(tmp_path / "plain", tmp_path / "data")
    put(tmp_path / "plain", {"a.py": "A = 2\n"})
    with open_source(result.report.source) as source, pytest.raises(FileUnreadableError, match="it changed"):
        source.read("a.py", result.rows["a.py"]["blob"])


def _many(folder: Path, count: int) -> None:
    put(folder, {f"m{number:03}.py": f"M = {number}\n" for number in range(count)})


def test_a_folder_that_lost_most_of_its_files_is_not_published_without_leave(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    _many(folder, 120)
    first = scanned(folder, tmp_path / "data")
    for number in range(70):
        (folder / f"m{number:03}.py").unlink()
    with pytest.raises(ShrinkError, match="had 120 files and now has 50"):
        scanned(folder, tmp_path / "data", previous=first.snapshot)
    allowed = scanned(folder, tmp_path / "data", previous=first.snapshot, allow_shrink=True)
    assert len(allowed.indexed) == 50


def test_half_of_the_files_a_small_folder_and_ignored_files_are_no_reason_to_stop(tmp_path: Path) -> None:
    half = tmp_path / "half"
    _many(half, 120)
    first = scanned(half, tmp_path / "data")
    for number in range(60):
        (half / f"m{number:03}.py").unlink()
    assert len(scanned(half, tmp_path / "data", previous=first.snapshot).indexed) == 60

    small = tmp_path / "small"
    _many(small, 99)
    first = scanned(small, tmp_path / "data")
    for number in range(90):
        (small / f"m{number:03}.py").unlink()
    assert len(scanned(small, tmp_path / "data", previous=first.snapshot).indexed) == 9

    ignored = tmp_path / "ignored"
    _many(ignored / "gen", 120)
    put(ignored, {"a.py": "A = 1\n"})
    first = scanned(ignored, tmp_path / "data")
    put(ignored, {".gitignore": "gen/\n"})
    assert scanned(ignored, tmp_path / "data", previous=first.snapshot).indexed == {"a.py", ".gitignore"}


def test_an_empty_work_tree_stops_and_a_commit_is_trusted(tmp_path: Path) -> None:
    repository = tmp_path / "own"
    _many(repository, 120)
    make_repository(repository, {})
    on_disk = scanned(repository, tmp_path / "data", worktree=True)
    committed = scanned(repository, tmp_path / "data")
    for file in repository.glob("*.py"):
        file.unlink()
    with pytest.raises(ShrinkError):
        scanned(repository, tmp_path / "data", worktree=True, previous=on_disk.snapshot)
    commit(repository, "remove all")
    assert scanned(repository, tmp_path / "data", previous=committed.snapshot).indexed == set()


def test_a_path_that_is_gone_keeps_its_snapshot_and_one_that_never_was_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    put(folder, {"a.py": "A = 1\n"})
    first = scanned(folder, tmp_path / "data")
    shutil.rmtree(folder)
    with pytest.raises(SourceError, match="the folder is gone"):
        scanned(folder, tmp_path / "data", previous=first.snapshot)
    with pytest.raises(RepositoryNotFoundError, match="does not exist"):
        scanned(folder, tmp_path / "data")
    put(tmp_path, {"file.py": ""})
    with pytest.raises(RepositoryNotFoundError, match="is a file"):
        scanned(tmp_path / "file.py", tmp_path / "data")


def test_an_empty_mount_point_in_place_of_a_small_repository_is_an_error(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", {"a.py": "A = 1\n"})
    first = scanned(repository, tmp_path / "data")
    shutil.rmtree(repository)
    repository.mkdir()
    with pytest.raises(SourceError, match="no git repository any more"):
        scanned(repository, tmp_path / "data", previous=first.snapshot)


def test_refs_and_work_trees_have_no_meaning_for_a_plain_folder(tmp_path: Path) -> None:
    put(tmp_path / "plain", {"a.py": ""})
    with pytest.raises(UsageError, match="no git repository and has no ref"):
        scanned(tmp_path / "plain", tmp_path / "data", "main")
    with pytest.raises(UsageError, match="has no work tree"):
        scanned(tmp_path / "plain", tmp_path / "data", worktree=True)
