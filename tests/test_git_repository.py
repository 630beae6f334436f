"""The git source: refs, bare and linked repositories, clones with missing parts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from made_repositories import commit, git, make_repository, put, scanned

from repolake.errors import GitError, UnknownNameError, UsageError
from repolake.records import Source, SourceMode
from repolake.source import open_source

FILES: dict[str, str | bytes] = {"a.py": "A = 1\n", "pkg/b.py": "B = 2\n"}


def test_a_path_is_read_at_its_head_commit_and_the_changed_files_are_counted(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    put(repository, {"a.py": "A = 'changed on disk'\n", "untracked.py": "U = 1\n"})
    result = scanned(repository, tmp_path / "data")
    assert result.indexed == {"a.py", "pkg/b.py"}
    assert result.rows["a.py"]["blob"] == git(repository, "rev-parse", "HEAD:a.py")
    assert result.snapshot.commit == git(repository, "rev-parse", "HEAD")
    assert result.snapshot.tree == git(repository, "rev-parse", "HEAD^{tree}")
    assert (result.snapshot.ref, result.report.repository.default_ref) == ("main", "main")
    assert result.report.notes[0].startswith("1 file has uncommitted changes")
    with open_source(result.report.source) as source:
        assert source.read("a.py", result.rows["a.py"]["blob"]) == b"A = 1\n"


def test_branches_tags_remote_branches_and_commit_ids_are_refs(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    first = git(origin, "rev-parse", "HEAD")
    git(origin, "tag", "v1")
    git(origin, "switch", "--quiet", "--create", "release/2.0")
    put(origin, {"c.py": "C = 3\n"})
    commit(origin, "second")
    git(origin, "switch", "--quiet", "main")
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    clone = tmp_path / "clone"
    for ref, paths in (
        ("main", {"a.py", "pkg/b.py"}),
        ("v1", {"a.py", "pkg/b.py"}),
        (first, {"a.py", "pkg/b.py"}),
        ("release/2.0", {"a.py", "pkg/b.py", "c.py"}),
    ):
        result = scanned(clone, tmp_path / "data", ref)
        assert (result.snapshot.ref, result.indexed) == (ref, paths)


def test_an_unknown_ref_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    with pytest.raises(UnknownNameError, match="has no ref 'nowhere'; it has: main"):
        scanned(repository, tmp_path / "data", "nowhere")
    with pytest.raises(UnknownNameError):
        scanned(repository, tmp_path / "data", "--output=/tmp/x")


def test_a_repository_without_commits_says_so(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    with pytest.raises(UsageError, match="no commit yet"):
        scanned(tmp_path / "empty", tmp_path / "data")


@pytest.mark.parametrize("pack", [False, True], ids=["loose", "packed"])
def test_a_bare_repository_is_read_like_its_checkout(tmp_path: Path, pack: bool) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare.git")
    bare = tmp_path / "bare.git"
    if pack:
        git(bare, "pack-refs", "--all")
        git(bare, "gc", "--quiet")
    result = scanned(bare, tmp_path / "data")
    checkout = scanned(repository, tmp_path / "data")
    assert result.rows == checkout.rows
    assert result.report.notes == ()
    assert result.report.repository.repository == "bare"


def test_a_linked_worktree_is_read_at_its_own_branch(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    git(repository, "worktree", "add", "--quiet", "-b", "feature", str(tmp_path / "linked"))
    put(tmp_path / "linked", {"f.py": "F = 1\n"})
    commit(tmp_path / "linked", "feature")
    assert "f.py" in scanned(tmp_path / "linked", tmp_path / "data").indexed
    on_disk = scanned(tmp_path / "linked", tmp_path / "data", worktree=True)
    assert (on_disk.snapshot.ref, on_disk.indexed) == ("feature+worktree", {"a.py", "pkg/b.py", "f.py"})
    assert "f.py" not in scanned(repository, tmp_path / "data").indexed


def test_a_linked_worktree_inside_the_work_tree_is_one_skipped_row(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    git(repository, "worktree", "add", "--quiet", "-b", "feature", str(repository / ".wt" / "feature"))
    result = scanned(repository, tmp_path / "data", worktree=True)
    assert result.indexed == {"a.py", "pkg/b.py"}
    assert result.skipped == {".wt/feature": "nested_repository"}


def test_submodules_are_skipped_and_named(tmp_path: Path) -> None:
    library = make_repository(tmp_path / "library", {"l.py": "L = 1\n"})
    repository = make_repository(tmp_path / "own", FILES)
    git(repository, "submodule", "--quiet", "add", str(library), "deps/library")
    commit(repository, "add library")
    for worktree in (False, True):
        result = scanned(repository, tmp_path / "data", worktree=worktree)
        assert result.indexed == {"a.py", "pkg/b.py", ".gitmodules"}
        assert result.skipped == {"deps/library": "submodule"}


def test_a_shallow_clone_has_no_root_commit_and_no_invented_dates(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    put(origin, {"a.py": "A = 2\n"})
    commit(origin, "second", when=1_700_000_100)
    put(origin, {"a.py": "A = 3\n"})
    commit(origin, "third", when=1_700_000_200)
    git(tmp_path, "clone", "--quiet", "--depth=2", f"file://{origin}", "shallow")
    result = scanned(tmp_path / "shallow", tmp_path / "data")
    assert result.indexed == {"a.py", "pkg/b.py"}
    assert result.report.repository.root_commit is None
    assert result.rows["a.py"]["last_commit_at"].timestamp() == 1_700_000_200
    assert result.rows["pkg/b.py"]["last_commit_at"] is None


def test_missing_blobs_of_a_partial_clone_are_failures_and_are_never_fetched(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    git(origin, "config", "uploadpack.allowFilter", "true")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=blob:none", f"file://{origin}", "partial.git")
    partial = tmp_path / "partial.git"
    blob = git(origin, "rev-parse", "HEAD:a.py")
    (partial / "one").write_bytes(b"A = 1\n")
    assert git(partial, "hash-object", "-w", "one") == blob
    result = scanned(partial, tmp_path / "data")
    assert result.indexed == {"a.py"}
    assert list(result.failed) == ["pkg/b.py"]
    assert "partial clone" in result.failed["pkg/b.py"]
    assert [failure.path for failure in result.report.failures] == ["pkg/b.py"]
    missing = git(partial, "rev-list", "--objects", "--all", "--missing=print").splitlines()
    assert "?" + git(origin, "rev-parse", "HEAD:pkg/b.py") in missing
    assert not scanned(partial, tmp_path / "data").report.is_unchanged  # tried again


def test_sha256_repositories_are_read(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES, "--object-format=sha256")
    result = scanned(repository, tmp_path / "data")
    assert result.indexed == {"a.py", "pkg/b.py"}
    assert result.rows["a.py"]["blob"] == git(repository, "rev-parse", "HEAD:a.py")
    on_disk = scanned(repository, tmp_path / "data", worktree=True)
    assert on_disk.rows["a.py"]["blob"] == result.rows["a.py"]["blob"]


def test_a_broken_object_fails_alone(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    blob = git(repository, "rev-parse", "HEAD:a.py")
    file = repository / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"no object at all")
    result = scanned(repository, tmp_path / "data")
    assert result.indexed == {"pkg/b.py"}
    assert list(result.failed) == ["a.py"]
    other = git(repository, "rev-parse", "HEAD:pkg/b.py")
    files = [("pkg/b.py", other), ("a.py", blob), ("gone.py", "0" * 40), ("pkg/b.py", other)]
    with open_source(result.report.source) as source:
        contents = [content if isinstance(content, bytes) else None for content in source.read_many(files)]
        assert contents == [b"B = 2\n", None, None, b"B = 2\n"]
        next(source.read_many(files))  # what nobody took is not mixed up with the next answer
        assert source.read("pkg/b.py", other) == b"B = 2\n"
        with pytest.raises(GitError, match="missing or broken"):
            source.read("a.py", blob)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_read_without_touching_any_configuration(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    for folder, _, names in os.walk(repository):
        for name in [folder, *(f"{folder}/{name}" for name in names)]:
            os.chown(name, 12345, 12345)
    assert scanned(repository, tmp_path / "data").indexed == {"a.py", "pkg/b.py"}
    assert scanned(repository, tmp_path / "data", worktree=True).indexed == {"a.py", "pkg/b.py"}


def test_a_configuration_that_names_programs_runs_none_of_them(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    hooks = repository / ".git" / "hooks"
    for hook in ("post-index-change", "post-checkout", "reference-transaction"):
        put(hooks, {hook: trap.read_bytes()})
        (hooks / hook).chmod(0o755)
    for name in (
        "core.fsmonitor",
        "core.sshCommand",
        "gpg.program",
        "core.pager",
        "diff.external",
        "core.editor",
    ):
        git(repository, "config", name, str(trap))
    git(repository, "config", "log.showSignature", "true")
    for worktree in (False, True):
        assert scanned(repository, tmp_path / "data", worktree=worktree).indexed == {"a.py", "pkg/b.py"}
    assert not (tmp_path / "sprung").exists()


def test_variables_of_a_surrounding_git_command_are_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    other = make_repository(tmp_path / "other", {"other.py": "O = 1\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert scanned(repository, tmp_path / "data").indexed == {"a.py", "pkg/b.py"}


def test_a_sub_folder_of_a_repository_is_not_taken_for_the_repository(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    result = scanned(repository / "pkg", tmp_path / "data")
    assert (result.snapshot.ref, result.indexed) == ("folder", {"b.py"})


def test_names_that_are_not_utf8_or_hold_anything_else_stay_apart_and_readable(tmp_path: Path) -> None:
    names = [b"caf\xe9.py", rb"caf\xe9.py", b"a\nb.py", b"-x.py", b":y.py", b"#z.py", b'q".py', b"tab\t.py"]
    names += ["e\u0301.py".encode(), "\u00e9.py".encode(), rb"back\slash.py", b"[ab]*.py", b"sp ace .py"]
    repository = make_repository(tmp_path / "own", {})
    for number, name in enumerate(names):
        (repository / os.fsdecode(name)).write_bytes(b"X = %d\n" % number)
    commit(repository, "names")
    for worktree in (False, True):
        result = scanned(repository, tmp_path / "data", worktree=worktree)
        assert len(result.indexed) == len(names)
        assert {r"caf\xe9.py", r"caf\x5cxe9.py", r"back\slash.py", "a\nb.py", ":y.py"} <= result.indexed
        with open_source(result.report.source) as source:
            contents = {source.read(path, result.rows[path]["blob"]) for path in result.indexed}
        assert contents == {b"X = %d\n" % number for number in range(len(names))}


def test_a_source_whose_repository_is_gone_is_an_error(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "own", FILES)
    result = scanned(repository, tmp_path / "data")
    shutil.rmtree(repository)
    with pytest.raises(GitError, match="no git repository any more"):
        open_source(Source(str(repository), SourceMode.COMMIT, result.snapshot.commit))
