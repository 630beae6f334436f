"""Ending git processes on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from repolake.errors import GitError
from repolake.git_command import begin_again, end_all, end_group, run_git, start_git


@pytest.fixture(autouse=True)
def _git_starts_again() -> Iterator[None]:
    yield
    begin_again()


def test_end_all_ends_what_runs_and_lets_nothing_start_until_it_begins_again():
    waiting = start_git(["hash-object", "--stdin"], "here", has_input=True)
    end_all()
    assert waiting.wait(10) == -signal.SIGKILL
    end_group(waiting)
    with pytest.raises(GitError, match="about to end"):
        run_git(["version"], "here")
    begin_again()
    assert run_git(["version"], "here").startswith(b"git version")
