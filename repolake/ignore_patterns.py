"""`.repolakeignore` files, and the include and exclude patterns of a repository: gitignore syntax.

The patterns are matched by the library pathspec. As in git the last matching pattern of the deepest file
wins, and what lies in an excluded folder stays excluded. Other than in git, `!` also wins back what a
built-in rule of repolake leaves out: `!vendor/own/` brings that folder's files into the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_FILE = ".repolakeignore"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the patterns say of a path: left out, or won back; `rule` names file, line and pattern."""

    is_excluded: bool
    rule: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    pattern: GitIgnoreSpecPattern
    is_negative: bool
    rule: str


def parse(text: str, origin: str) -> list[_Pattern]:
    """Return the patterns of one ignore file; lines that are no pattern are passed over."""
    patterns = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.rstrip("\r")
        if not content.strip() or content.startswith("#"):
            continue
        pattern = GitIgnoreSpecPattern(content)
        if pattern.include is not None:
            patterns.append(_Pattern(pattern, not pattern.include, f"{origin}:{number}:{content}"))
    return patterns


class IgnorePatterns:
    """All ignore files of a snapshot, keyed by the folder that they stand in (`""` for the root)."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._by_folder = {
            folder: parse(text, f"{folder}/{IGNORE_FILE}" if folder else IGNORE_FILE)
            for folder, text in files.items()
        }
        self._folder_verdicts: dict[str, Verdict | None] = {"": None}

    def verdict(self, path: str) -> Verdict | None:
        """Return what the patterns say of a file, or None when no pattern matches it or a folder above."""
        if not self._by_folder:
            return None
        return self._judge(path, path.rpartition("/")[0])

    def _judge(self, path: str, folder: str) -> Verdict | None:
        above = self._folder_verdict(folder)
        if above is not None and above.is_excluded:
            return above
        return self._own(path) or above

    def _folder_verdict(self, folder: str) -> Verdict | None:
        if folder not in self._folder_verdicts:
            self._folder_verdicts[folder] = self._judge(folder + "/", folder.rpartition("/")[0])
        return self._folder_verdicts[folder]

    def _own(self, path: str) -> Verdict | None:
        """Return the verdict of the last pattern of the deepest file that names this very path."""
        parent = path.rstrip("/").rpartition("/")[0]
        while True:
            patterns = self._by_folder.get(parent)
            if patterns:
                relative = path[len(parent) + 1 :] if parent else path
                for known in reversed(patterns):
                    if known.pattern.match_file(relative) is not None:
                        return Verdict(not known.is_negative, known.rule)
            if not parent:
                return None
            parent = parent.rpartition("/")[0]


class PathFilter:
    """The patterns of one repository: a file must match an include, if there is any, and no exclude."""

    def __init__(self, include: Iterable[str], exclude: Iterable[str]) -> None:
        self._include = [(GitIgnoreSpecPattern(pattern), pattern) for pattern in include]
        self._exclude = [(GitIgnoreSpecPattern(pattern), pattern) for pattern in exclude]

    def rule(self, path: str) -> str | None:
        """Return the rule that leaves a path out, or None."""
        for pattern, text in self._exclude:
            if pattern.match_file(path) is not None:
                return f"exclude {text}"
        if self._include and not any(pattern.match_file(path) is not None for pattern, _ in self._include):
            return "no include pattern matches"
        return None
