"""`.gitattributes` as git reads them: the linguist attributes of paths, and their encoding on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from repolake.git_command import environment, run_git
from repolake.git_repository import GitRepository
from repolake.path_names import path_bytes, path_text

_LINGUIST = ("linguist-vendored", "linguist-generated", "linguist-documentation")
_DISK_ENCODING = "working-tree-encoding"  # on disk alone: the object store holds UTF-8
_UNSAID = (b"unspecified",)
_FALSE = (b"unset", b"false", b"0", b"no")


@dataclass(frozen=True, slots=True)
class Attributes:
    """What `.gitattributes` say of one path; null where they say nothing.

    `disk_encoding` is what git would convert a file on disk from, such as `UTF-16LE`.
    """

    is_vendored: bool | None = None
    is_generated: bool | None = None
    is_documentation: bool | None = None
    disk_encoding: str | None = None


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
        return _check([*base, "check-attr", "--cached"], repository.location, variables, paths, _LINGUIST)


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
        return _check(command, str(root), variables, paths, (*_LINGUIST, _DISK_ENCODING))


def _has_attribute_files(paths: Sequence[str]) -> bool:
    return any(path == ".gitattributes" or path.endswith("/.gitattributes") for path in paths)


def _check(
    command: list[str], location: str, variables: dict[str, str], paths: Sequence[str], names: Sequence[str]
) -> dict[str, Attributes]:
    given = b"".join(path_bytes(path) + b"\0" for path in paths)
    answer = run_git([*command, "-z", "--stdin", *names], location, variables=variables, given=given)
    fields = answer.split(b"\0")
    found: dict[str, Attributes] = {}
    step = 3 * len(names)
    for start in range(0, len(fields) - 1, step):
        values = fields[start + 2 : start + step : 3]
        if any(value not in _UNSAID for value in values):
            vendored, generated, documentation, *encodings = values
            found[path_text(fields[start])] = Attributes(
                _value(vendored),
                _value(generated),
                _value(documentation),
                _encoding(encodings[0]) if encodings else None,
            )
    return found


def _value(value: bytes) -> bool | None:
    if value in _UNSAID:
        return None
    return value not in _FALSE


def _encoding(value: bytes) -> str | None:
    return None if value in (*_UNSAID, *_FALSE, b"set") else value.decode("utf-8", "replace")
