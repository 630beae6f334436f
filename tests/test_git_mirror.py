"""Repositories given by URL: mirrors, names, credentials, time limits."""

from __future__ import annotations

import base64
import http.server
import os
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from made_repositories import commit, git, make_repository, put, scanned

from repolake.errors import GitError, GitTimeoutError, SettingsError, UsageError
from repolake.git_mirror import _remote_environment
from repolake.locations import allowed_address, is_url, parse_address, public_url, repository_name
from repolake.settings import load_settings
from repolake.source import open_source

FILES: dict[str, str | bytes] = {"a.py": "A = 1\n"}


def _mirror(data: Path) -> Path:
    (found,) = (data / "mirrors").iterdir()
    return found


def test_a_url_is_mirrored_and_fetched_once_a_run(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin.git", FILES)
    url = f"file://{origin}"
    first = scanned(url, tmp_path / "data", run_id="one")
    assert first.indexed == {"a.py"}
    assert first.report.repository.repository == "origin"
    assert (first.report.repository.location, first.report.repository.remote_url) == (url, url)
    put(origin, {"b.py": "B = 1\n"})
    commit(origin, "second")
    assert scanned(url, tmp_path / "data", run_id="one", previous=first.snapshot).report.is_unchanged
    second = scanned(url, tmp_path / "data", run_id="two", previous=first.snapshot)
    assert second.indexed == {"a.py", "b.py"}
    with open_source(second.report.source) as source:
        assert source.read("b.py", second.rows["b.py"]["blob"]) == b"B = 1\n"


def test_a_mirror_that_a_killed_run_left_broken_is_put_right(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    url = f"file://{origin}"
    scanned(url, tmp_path / "data", run_id="one")
    mirror = _mirror(tmp_path / "data")
    for lock in ("config.lock", "packed-refs.lock", "refs/heads/main.lock"):
        (mirror / lock).touch()
        os.utime(mirror / lock, (time.time() - 60, time.time() - 60))
    put(origin, {"b.py": "B = 1\n"})
    commit(origin, "second")
    assert scanned(url, tmp_path / "data", run_id="two").indexed == {"a.py", "b.py"}
    (mirror / "HEAD").write_bytes(b"")
    assert scanned(url, tmp_path / "data", run_id="three").indexed == {"a.py", "b.py"}


def test_rewritten_deleted_and_renamed_branches_are_followed(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    git(origin, "branch", "old")
    url = f"file://{origin}"
    assert scanned(url, tmp_path / "data", run_id="one").snapshot.ref == "main"
    put(origin, {"a.py": "A = 'amended'\n"})
    git(origin, "commit", "--quiet", "--all", "--amend", "--message", "other")
    git(origin, "branch", "--delete", "--force", "old")
    git(origin, "branch", "--move", "main", "trunk")
    git(origin, "branch", "main/sub")  # impossible beside a branch `main`
    result = scanned(url, tmp_path / "data", run_id="two")
    assert (result.snapshot.ref, result.snapshot.commit) == ("trunk", git(origin, "rev-parse", "HEAD"))
    branches = git(_mirror(tmp_path / "data"), "for-each-ref", "--format=%(refname:short)", "refs/heads")
    assert branches.split() == ["main/sub", "trunk"]


def test_pull_requests_are_not_mirrored(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    git(origin, "update-ref", "refs/pull/1/head", "HEAD")
    scanned(f"file://{origin}", tmp_path / "data")
    assert git(_mirror(tmp_path / "data"), "for-each-ref", "refs/pull") == ""


def test_a_remote_that_fails_is_an_error_with_the_reason_and_the_old_mirror_stays(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    url = f"file://{origin}"
    scanned(url, tmp_path / "data", run_id="one")
    origin.rename(tmp_path / "moved")
    with pytest.raises(GitError, match=r"does not appear to be a git repository|not exist"):
        scanned(url, tmp_path / "data", run_id="two")
    (tmp_path / "moved").rename(origin)
    assert scanned(url, tmp_path / "data", run_id="three").indexed == {"a.py"}


@contextmanager
def _silent_server() -> Iterator[int]:
    """A server that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_remote_that_does_not_answer_is_left_after_the_time_limit(tmp_path: Path) -> None:
    with _silent_server() as port:
        started = time.monotonic()
        with pytest.raises(GitTimeoutError, match="took over 1 s") as caught:
            scanned(
                f"http://127.0.0.1:{port}/x.git", tmp_path / "data", settings={"git_timeout_seconds": 1.0}
            )
        assert time.monotonic() - started < 30
    assert caught.value.is_transient


class _GitHttp(http.server.BaseHTTPRequestHandler):
    """git's dumb HTTP protocol behind a password."""

    root: Path
    seen: list[str | None]

    def do_GET(self) -> None:
        given = self.headers.get("Authorization")
        self.seen.append(given)
        if given is None:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        file = self.root / self.path.split("?")[0].lstrip("/")
        self.send_response(200 if file.is_file() else 404)
        self.end_headers()
        if file.is_file():
            self.wfile.write(file.read_bytes())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def _server(root: Path) -> Iterator[tuple[int, list[str | None]]]:
    seen: list[str | None] = []
    handler = type("Handler", (_GitHttp,), {"root": root, "seen": seen})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1], seen
        finally:
            server.shutdown()
            thread.join()


def test_credentials_of_a_url_reach_the_remote_and_no_file(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin", FILES)
    git(tmp_path, "clone", "--quiet", "--bare", str(origin), "served/owner/name.git")
    git(tmp_path / "served/owner/name.git", "update-server-info")
    with _server(tmp_path / "served") as (port, seen):
        result = scanned(f"http://ada:s3cr%2Ft@127.0.0.1:{port}/owner/name.git", tmp_path / "data")
    assert "Basic " + base64.b64encode(b"ada:s3cr/t").decode() in seen
    assert result.indexed == {"a.py"}
    assert result.report.repository.repository == "owner/name"
    assert result.report.repository.remote_url == f"http://127.0.0.1:{port}/owner/name.git"
    assert "s3cr" not in repr(result.report)
    for folder, _, names in os.walk(tmp_path / "data"):
        for name in names:
            assert b"s3cr" not in Path(folder, name).read_bytes()


def test_a_missing_password_never_asks_and_never_shows_what_was_given(tmp_path: Path) -> None:
    with _server(tmp_path) as (port, _), pytest.raises(GitError) as caught:
        scanned(f"http://127.0.0.1:{port}/owner/name.git", tmp_path / "data")
    assert "could not read Username" in str(caught.value) or "Authentication" in str(caught.value)
    with _server(tmp_path) as (port, _), pytest.raises(GitError) as caught:
        scanned(f"http://ada:s3cret@127.0.0.1:{port}/owner/name.git", tmp_path / "data")
    assert "s3cret" not in str(caught.value)


def test_ssh_uses_the_key_and_the_known_hosts_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bin" / "ssh"
    put(tmp_path, {"bin/ssh": f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/arguments\nexit 255\n'})
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    with pytest.raises(GitError):
        scanned(
            "git@example.com:owner/name.git",
            tmp_path / "data",
            settings={"git_ssh_key_file": tmp_path / "a key", "git_known_hosts_file": tmp_path / "hosts"},
        )
    arguments = (tmp_path / "arguments").read_text().splitlines()
    assert arguments[arguments.index("-i") + 1] == str(tmp_path / "a key")
    assert {"BatchMode=yes", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes"} <= set(arguments)
    assert f"UserKnownHostsFile={tmp_path}/hosts" in arguments
    assert "git@example.com" in arguments


def test_a_token_file_that_cannot_be_read_is_a_wrong_setting(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="token file"):
        scanned(
            "https://example.invalid/o/n.git",
            tmp_path / "data",
            settings={"git_token_file": tmp_path / "nowhere"},
        )


def test_a_token_is_offered_to_its_https_host_alone(tmp_path: Path) -> None:
    put(tmp_path, {"token": "t0ken\n"})
    settings = load_settings(git_token_file=tmp_path / "token")

    def fill(url: str, host: str) -> str:
        variables = _remote_environment(allowed_address(url), settings)
        question = f"protocol=https\nhost={host}\n\n".encode()
        done = subprocess.run(
            ["git", "credential", "fill"], input=question, capture_output=True, env=variables, check=False
        )
        return done.stdout.decode()

    assert "password=t0ken\n" in fill("https://example.com/o/n.git", "example.com")
    assert "t0ken" not in fill("https://example.com/o/n.git", "elsewhere.com")
    assert "t0ken" not in str(_remote_environment(allowed_address("http://example.com/o/n.git"), settings))


@pytest.mark.parametrize(
    "location", ["ext::sh -c touch% /tmp/x", "fd::7", "ftp://example.com/x", "-oProxyCommand=x:y"]
)
def test_addresses_that_could_run_a_program_are_refused(tmp_path: Path, location: str) -> None:
    with pytest.raises(UsageError):
        scanned(location, tmp_path / "data")


def test_a_url_has_no_work_tree(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no work tree"):
        scanned("https://example.com/o/n.git", tmp_path / "data", worktree=True)


@pytest.mark.parametrize(
    ("url", "public", "name"),
    [
        ("https://github.com/owner/name.git", "https://github.com/owner/name.git", "owner/name"),
        ("https://user:pass@github.com/owner/name", "https://github.com/owner/name", "owner/name"),
        (
            "https://TOKEN@host:8443/group/sub/name.git/",
            "https://host:8443/group/sub/name.git/",
            "group/sub/name",
        ),
        ("git@github.com:owner/name.git", "git@github.com:owner/name.git", "owner/name"),
        ("ssh://git@host:22/owner/name.git", "ssh://git@host:22/owner/name.git", "owner/name"),
        ("ssh://git:pw@host/owner/name.git", "ssh://git@host/owner/name.git", "owner/name"),
        ("https://host/o/n.git?private_token=abc", "https://host/o/n.git", "o/n"),
    ],
)
def test_addresses_lose_their_credentials_and_give_the_name(url: str, public: str, name: str) -> None:
    assert public_url(url) == public
    address = parse_address(url)
    assert address is not None
    assert address.name == name
    assert is_url(url)


def test_a_repository_is_named_by_option_then_remote_then_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    assert repository_name("mine", "git@github.com:owner/name.git", folder) == "mine"
    assert repository_name(None, "git@github.com:owner/name.git", folder) == "owner/name"
    assert repository_name(None, "/srv/git/other.git", folder) == "folder"
    assert repository_name(None, None, folder) == "folder"
    assert repository_name(None, None, folder / ".git") == "folder"
    make_repository(folder, FILES)
    git(folder, "remote", "add", "upstream", "https://me:secret@example.com/owner/name.git")
    result = scanned(folder, tmp_path / "data")
    assert result.report.repository.repository == "owner/name"
    assert result.report.repository.remote_url == "https://example.com/owner/name.git"
