"""Plays random histories of a real git repository: an incremental index must equal one from scratch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from database_equality import differences
from hypothesis import strategies as st
from repositories import commit, git, make_repository

from repolake import pipeline
from repolake.database_files import published_path
from repolake.garbage import collect_garbage
from repolake.records import RepositorySpec
from repolake.settings import Settings

PATHS = ("a.py", "b.py", "lib/c.py", "lib/d.js", "docs/e.md", "lib/deep/f.py", "notes.txt", "empty.py")
BODIES = (
    "def walk(way):\n    return [step for step in way]\n",
    "class Cart:\n    def total(self):\n        return 1\n\n    def clear(self):\n        self.lines = []\n",
    "# Title\n\nSome words.\n\n## Part\n\nMore words.\n",
    "\n",
    "",
    "\n\n".join(f"def part_{n}(value):\n    return value * {n} + {n}\n" for n in range(12)),
    "LIMIT = 3\nprint(LIMIT)\n",
)
CHUNK_TOKENS = (512, 80)
MAX_FILE_BYTES = (1_048_576, 300)

# A step is what is done, and two numbers that choose where.
STEPS = (
    "edit add delete rename copy branch switch merge force_push revert ignore limit budget index gc".split()
)
steps = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 1000), st.integers(0, 1000)), min_size=3, max_size=9
)


@dataclass
class History:
    """A repository with the branches main and, at times, feature; and its incremental index."""

    work: Path
    settings: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repository = make_repository(self.work / "repository", {"keep.py": "def keep():\n    pass\n"})
        self.commit("a.py", BODIES[1])

    @property
    def spec(self) -> RepositorySpec:
        branches = git(self.repository, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        return RepositorySpec(str(self.repository), refs=("main", *(b for b in branches if b != "main")))

    def settings_in(self, folder: Path) -> Settings:
        return Settings(
            data_dir=folder, model="fast", snapshots_per_ref=1, gc_grace_hours=0, workers=1, **self.settings
        )

    def commit(self, path: str, text: str | None) -> None:
        commit(self.repository, {path: text})

    def paths(self) -> list[str]:
        return [p for p in git(self.repository, "ls-files").split("\n") if p != "keep.py"]

    def play(self, steps: Sequence[tuple[str, int, int]]) -> None:
        for name, one, other in steps:
            step: Callable[[int, int], None] = getattr(self, name)
            step(one, other)

    def edit(self, one: int, other: int) -> None:
        paths = self.paths()
        if paths:
            path = paths[one % len(paths)]
            text = (self.repository / path).read_text()
            body = BODIES[other % len(BODIES)]
            self.commit(path, f"{body}\n{text}" if other % 2 else body)

    def add(self, one: int, other: int) -> None:
        self.commit(PATHS[one % len(PATHS)], BODIES[other % len(BODIES)])

    def delete(self, one: int, _: int) -> None:
        paths = self.paths()
        if paths:
            self.commit(paths[one % len(paths)], None)

    def rename(self, one: int, other: int) -> None:
        paths = self.paths()
        target = f"moved/{other % 3}_{PATHS[other % len(PATHS)].rpartition('/')[2]}"
        if paths and not (self.repository / target).exists():
            (self.repository / "moved").mkdir(exist_ok=True)
            git(self.repository, "mv", paths[one % len(paths)], target)
            git(self.repository, "commit", "--quiet", "--message", "Move")

    def copy(self, one: int, other: int) -> None:
        paths = self.paths()
        if paths:
            text = (self.repository / paths[one % len(paths)]).read_text()
            self.commit(f"copies/{PATHS[other % len(PATHS)]}", text)

    def branch(self, one: int, _: int) -> None:
        git(self.repository, "switch", "--quiet", "main")
        if "feature" in self.spec.refs and one % 2:
            git(self.repository, "branch", "--quiet", "-D", "feature")
        else:
            git(self.repository, "branch", "--quiet", "--force", "feature", "main")

    def switch(self, one: int, _: int) -> None:
        git(self.repository, "switch", "--quiet", self.spec.refs[one % len(self.spec.refs)])

    def merge(self, _: int, __: int) -> None:
        if "feature" in self.spec.refs:
            git(self.repository, "switch", "--quiet", "main")
            try:
                git(self.repository, "merge", "--quiet", "--strategy-option=theirs", "feature", "-m", "Merge")
            except subprocess.CalledProcessError:  # a file that one side deleted: give the merge up
                git(self.repository, "reset", "--quiet", "--hard", "HEAD")

    def force_push(self, one: int, _: int) -> None:
        count = int(git(self.repository, "rev-list", "--count", "--first-parent", "HEAD"))
        git(self.repository, "reset", "--quiet", "--hard", f"HEAD~{one % min(count, 4)}")

    def revert(self, _: int, __: int) -> None:
        try:
            git(self.repository, "revert", "--no-edit", "HEAD")
        except subprocess.CalledProcessError:  # a merge, or the first commit
            git(self.repository, "reset", "--quiet", "--hard", "HEAD")

    def ignore(self, one: int, _: int) -> None:
        patterns = ("", "lib/\n", "*.md\n!docs/\n", "moved/\ncopies/\n")
        self.commit(".repolakeignore", patterns[one % len(patterns)])

    def limit(self, one: int, _: int) -> None:
        self.settings["max_file_bytes"] = MAX_FILE_BYTES[one % 2]

    def budget(self, one: int, _: int) -> None:
        self.settings["chunk_tokens"] = CHUNK_TOKENS[one % 2]

    def index(self, _: int, __: int) -> None:
        pipeline.index([self.spec], settings=self.settings_in(self.work / "data"), is_whole_list=True)

    def gc(self, _: int, __: int) -> None:
        if published_path(self.work / "data") is not None:
            collect_garbage(settings=self.settings_in(self.work / "data"))

    def differences(self) -> list[str]:
        """Index what there is now once more and from scratch; return in what the databases differ."""
        self.index(0, 0)
        pipeline.index([self.spec], settings=self.settings_in(self.work / "fresh"))
        one, other = published_path(self.work / "data"), published_path(self.work / "fresh")
        assert one is not None
        assert other is not None
        return differences(one, other)
