"""`.gitattributes` as git reads them: the linguist attributes of paths."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repolake.git_command import environment, run_git
from repolake.git_repository import GitRepository
from repolake.path_names import path_bytes, path_text

_NAMES = ("linguist-vendored", "linguist-generated", "linguist-documentation")
_UNSAID = (b"unspecified",)
_FALSE = (b"unset", b"false", b"0", b"no")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What `.gitattributes` say of one path; null where they say nothing."""

    is_vendored: bool | None = None
    is_generated: bool | None = None
    is_documentation: bool | None = None


NO_ATTRIBUTES = Attributes()


def tree_attributes(repository: GitRepository, tree: str, paths: Sequence[str]) -> dict[str, Attributes]:
    """Return the attributes of a commit's paths; paths without any are left out.

    The files are read from a temporary index, since `check-attr --source` needs git 2.40.
    """
    if not _has_attribute_files(paths):
        return {}
    with tempfile.TemporaryDirectory(prefix="repolake-") as folder:
        variables = environment({"GIT_INDEX_FILE": str(Path(folder, "index"))})
        base = [f"--git-dir={repository.git_dir}"]
        run_git([*base, "read-tree", tree], repository.location, variables=variables)
        return _check([*base, "check-attr", "--cached"], repository.location, variables, paths)


def folder_attributes(
    root: Path, repository: GitRepository | None, paths: Sequence[str]
) -> dict[str, Attributes]:
    """Return the attributes of paths on disk; paths without any are left out."""
    if not _has_attribute_files(paths):
        return {}
    with tempfile.TemporaryDirectory(prefix="repolake-") as folder:
        git_dir = repository.git_dir if repository is not None else folder
        if repository is None:
            run_git(["init", "--quiet", "--bare", folder], str(root))
        variables = environment(configuration={"core.bare": "false", "core.attributesFile": os.devnull})
        command = [f"--git-dir={git_dir}", f"--work-tree={root}", "-C", str(root), "check-attr"]
        return _check(command, str(root), variables, paths)


def _has_attribute_files(paths: Sequence[str]) -> bool:
    return any(path == ".gitattributes" or path.endswith("/.gitattributes") for path in paths)


def _check(
    command: list[str], location: str, variables: dict[str, str], paths: Sequence[str]
) -> dict[str, Attributes]:
    given = b"".join(path_bytes(path) + b"\0" for path in paths)
    answer = run_git([*command, "-z", "--stdin", *_NAMES], location, variables=variables, given=given)
    fields = answer.split(b"\0")
    found: dict[str, Attributes] = {}
    step = 3 * len(_NAMES)
    for start in range(0, len(fields) - 1, step):
        values = fields[start + 2 : start + step : 3]
        if any(value not in _UNSAID for value in values):
            found[path_text(fields[start])] = Attributes(*(_value(value) for value in values))
    return found


def _value(value: bytes) -> bool | None:
    if value in _UNSAID:
        return None
    return value not in _FALSE
