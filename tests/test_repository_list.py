"""The file that lists the repositories of a lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from repolake.errors import UsageError
from repolake.records import RepositorySpec
from repolake.repository_list import read_repository_list


def test_paths_are_relative_to_the_file_and_urls_stay(tmp_path: Path):
    file = tmp_path / "repolake.toml"
    file.write_text(
        """
        [[repositories]]
        location = "git/shop"
        name = "shop"
        refs = ["main", "release"]
        exclude = ["data/"]

        [[repositories]]
        location = "https://example.org/blog.git"

        [[repositories]]
        location = "git@example.org:ada/notes.git"

        [[repositories]]
        location = "/srv/wiki"
        worktree = true
        include = ["vendor/ours/"]
        """
    )
    assert read_repository_list(file) == (
        RepositorySpec(str(tmp_path / "git/shop"), "shop", ("main", "release"), exclude=("data/",)),
        RepositorySpec("https://example.org/blog.git"),
        RepositorySpec("git@example.org:ada/notes.git"),
        RepositorySpec("/srv/wiki", worktree=True, include=("vendor/ours/",)),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[repositories]\n", "cannot read"),
        ("[[repositories]]\nlocation = 3\n", r"repositories\.0\.location"),
        ("[[repositories]]\nlocation = 'a'\nbranch = 'main'\n", r"repositories\.0\.branch"),
        ("", "repositories"),
        ("repositories = []\n", "lists no repository"),
    ],
)
def test_a_wrong_list_is_refused_with_the_place(tmp_path: Path, text: str, message: str):
    file = tmp_path / "repolake.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message):
        read_repository_list(file)


def test_a_list_that_does_not_exist_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="No such file"):
        read_repository_list(tmp_path / "repolake.toml")
