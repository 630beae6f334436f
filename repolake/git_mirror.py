"""Bare mirrors of repositories given by URL: cloned once, fetched on later runs.

A mirror holds the branches and tags of its remote, not its pull requests. Credentials of a URL, or a token
from a file, reach git through the environment of that one process, as a credential helper for that host
alone: they are in no argument, no configuration file, no log. Nothing ever asks a person.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import time
from pathlib import Path

from repolake.errors import GitError, SettingsError
from repolake.git_command import environment, run_git
from repolake.git_repository import GitRepository
from repolake.locations import Address
from repolake.settings import Settings

_FETCHED = "repolake-run"  # the run that fetched last: several refs of one run are one fetch
_LOCK_SECONDS = 30.0  # git holds a lock file while it writes one small file; an older one has lost its owner
_HELPER = (
    '!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" '
    '"$GIT_CREDENTIAL_USER" "$GIT_CREDENTIAL_PASSWORD"; }; f'
)
_TOKEN_USER = "x-access-token"  # noqa: S105  # hosts that take tokens take any user name
_REFSPECS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")


def mirror_path(mirrors_dir: Path, address: Address) -> Path:
    """Return the folder of a remote's mirror: its readable name and a hash of its whole address."""
    readable = re.sub(r"[^\w.-]+", "-", address.name).strip("-.") or "repository"
    return mirrors_dir / f"{readable[-80:]}-{hashlib.sha256(address.url.encode()).hexdigest()[:10]}.git"


def fetch_mirror(mirrors_dir: Path, address: Address, settings: Settings, run_id: str) -> GitRepository:
    """Bring a remote's mirror up to date and return it; once per run.

    Raises GitError when the remote refuses, GitTimeoutError when it takes over `git_timeout_seconds`.
    """
    folder = mirror_path(mirrors_dir, address)
    marker = folder / _FETCHED
    if not (marker.is_file() and marker.read_text(encoding="utf-8") == run_id):
        variables = _remote_environment(address, settings)
        timeout = settings.git_timeout_seconds
        _prepare(folder, address)
        base = [f"--git-dir={folder}"]
        run_git([*base, "config", "remote.origin.url", address.url], address.url)
        fetch = [
            *base,
            "fetch",
            "--quiet",
            "--prune",
            "--force",
            "--no-tags",
            "--no-write-fetch-head",
            "--",
            address.url,
        ]
        run_git([*fetch, *_REFSPECS], address.url, variables=variables, timeout_seconds=timeout)
        listing = [*base, "ls-remote", "--symref", "--", address.url, "HEAD"]
        head = run_git(listing, address.url, variables=variables, timeout_seconds=timeout)
        match = re.match(rb"ref: (refs/heads/\S+)\tHEAD", head)
        if match:
            run_git([*base, "symbolic-ref", "HEAD", match[1].decode("utf-8", "surrogateescape")], address.url)
        marker.write_text(run_id, encoding="utf-8")
    repository = GitRepository.find(folder)
    if repository is None:
        raise GitError(address.url, f"its mirror {folder} is no repository; delete that folder and run again")
    return repository


def _prepare(folder: Path, address: Address) -> None:
    """Make the mirror, or put right what a run left that was killed or lost its disk."""
    if not folder.is_dir() or GitRepository.find(folder) is None:
        fresh = folder.with_name(f"_{folder.name}")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.parent.mkdir(parents=True, exist_ok=True)
        run_git(["init", "--quiet", "--bare", str(fresh)], address.url)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    oldest = time.time() - _LOCK_SECONDS
    for lock in (*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")):
        if lock.stat().st_mtime < oldest:
            lock.unlink(missing_ok=True)


def pack_mirror(folder: Path) -> None:
    """Let git pack a mirror that has come to hold many packs, and drop what its remote forgot.

    Raises GitError when git refuses.
    """
    variables = environment(configuration={"gc.auto": "2000", "gc.autoDetach": "false"})
    run_git([f"--git-dir={folder}", "gc", "--auto", "--quiet"], str(folder), variables=variables)


def _remote_environment(address: Address, settings: Settings) -> dict[str, str]:
    extra = {"GIT_SSH_COMMAND": _ssh_command(settings)}
    configuration = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}
    user, password = address.user, address.password
    if address.scheme == "https" and password is None and settings.git_token_file is not None:
        user, password = user or _TOKEN_USER, _secret(settings.git_token_file)
    if password is None and user is not None and address.scheme in ("https", "http"):
        user, password = _TOKEN_USER, user  # https://TOKEN@host/
    if password is not None:
        scope = "/".join(address.url.split("/", 3)[:3])
        configuration[f"credential.{scope}.helper"] = _HELPER
        configuration["credential.useHttpPath"] = "false"
        extra |= {"GIT_CREDENTIAL_USER": user or _TOKEN_USER, "GIT_CREDENTIAL_PASSWORD": password}
    return environment(extra, configuration=configuration, is_remote=True)


def _ssh_command(settings: Settings) -> str:
    words = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30"]
    if settings.git_ssh_key_file is not None:
        words += ["-i", str(settings.git_ssh_key_file), "-o", "IdentitiesOnly=yes"]
    if settings.git_known_hosts_file is not None:
        known = str(settings.git_known_hosts_file)
        words += ["-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes"]
    return shlex.join(words)


def _secret(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"the token file {file} cannot be read", "correct REPOLAKE_GIT_TOKEN_FILE"
        ) from error
