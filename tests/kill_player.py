"""Kills runs and gc at random moments, and checks after each that the published index is whole.

Attempts are children of a fork server that has imported repolake once, each the leader of a process group of
its own, so that SIGKILL takes its workers too.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from database_equality import differences
from repositories import commit, git, make_repository

from repolake import database, database_files, pipeline
from repolake.garbage import collect_garbage
from repolake.lake import Lake
from repolake.records import RepositorySpec, Stage
from repolake.settings import Settings

STAGES = ("scan", "after scan", "chunk", "embed", "after embed", "load", "after load")
_CONTEXT = multiprocessing.get_context("forkserver")


def preload() -> None:
    """Let the fork server import once what every attempt needs; call it before the first attempt."""
    _CONTEXT.set_forkserver_preload(["kill_player"])


class StageFile:
    """A progress that leaves the name of the stage in a file, for whoever kills."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, stage: Stage, label: str, total: int | None) -> None:
        """Write the stage that starts."""
        del label, total
        self.path.write_text(stage.value)

    def advance(self, stage: Stage, count: int) -> None:
        """Nothing."""

    def finish(self, stage: Stage) -> None:
        """Write what ended."""
        self.path.write_text(f"after {stage.value}")


def attempt(what: str, data_dir: Path, location: str, stage_file: Path) -> None:
    """Run `index` or `gc` to its end, in a child process."""
    os.setsid()
    stage_file.write_text(f"{what} begins")
    settings = Settings(data_dir=data_dir, model="fast", snapshots_per_ref=1, gc_grace_hours=0)
    if what == "gc":
        if Lake(data_dir).latest_manifest() is not None:
            stage_file.write_text("gc")
            collect_garbage(settings=settings)
    else:
        pipeline.index([RepositorySpec(location)], settings=settings, progress=StageFile(stage_file))


def check(data_dir: Path) -> None:
    """Fail unless the published index, if there is one, opens, passes every check and is not empty."""
    published = database_files.published_path(data_dir)
    if published is not None:
        assert database.check(published, memory_limit="1GB", threads=1) == {}
        assert sum(database.chunk_counts(published).values()) > 0
    else:
        assert not (data_dir / database_files.PUBLISHED_NAME).is_symlink(), "the link leads nowhere"


def compare(data_dir: Path, fresh: Path, location: str) -> None:
    """Fail unless the published index equals one from scratch."""
    settings = Settings(data_dir=fresh, model="fast", snapshots_per_ref=1)
    pipeline.index([RepositorySpec(location)], settings=settings)
    one, other = database_files.published_path(data_dir), database_files.published_path(fresh)
    assert one is not None
    assert other is not None
    assert differences(one, other) == []


@dataclass
class KillPlayer:
    """Plays edits, runs, gc and kills on one repository; `kills` counts kills by what was going on."""

    work: Path
    dice: random.Random
    file_count: int = 12
    kills: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    rounds: int = 0

    def __post_init__(self) -> None:
        self.repository = make_repository(self.work / "repository", self._files(range(self.file_count)))
        self.data_dir = self.work / "data"

    def _files(self, numbers: range | list[int]) -> dict[str, str | None]:
        version = self.dice.randrange(10**9)
        return {
            f"package/module_{number}.py": "\n\n".join(
                f"def function_{number}_{k}(value):\n    return value + {version + k}\n" for k in range(6)
            )
            for number in numbers
        }

    def edit(self) -> None:
        """Commit changes of some files; now and then throw commits away, as a force-push does."""
        if self.dice.random() < 0.2:
            git(self.repository, "reset", "--quiet", "--hard", "HEAD~1" if self._has_parent() else "HEAD")
        numbers = self.dice.sample(range(self.file_count * 2), 3)
        commit(self.repository, self._files(numbers))

    def _has_parent(self) -> bool:
        return int(git(self.repository, "rev-list", "--count", "HEAD")) > 1

    def run(self, what: str, kill_after: float | None = None, stage: str = "") -> bool:
        """Run an attempt, killed or not; return whether it was killed.

        `kill_after` are seconds from its start, or from when it reaches the stage.
        """
        stage_file = self.work / "stage"
        arguments = (what, self.data_dir, str(self.repository), stage_file)
        process = _CONTEXT.Process(target=attempt, args=arguments)
        started = time.monotonic()
        stage_file.write_text(f"{what} begins")
        process.start()
        while stage and process.is_alive() and not stage_file.read_text().startswith(stage):
            time.sleep(0.002)
        process.join(kill_after)
        is_killed = process.is_alive()
        if is_killed:
            assert process.pid is not None
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:  # it had not become a leader yet
                process.kill()
            process.join()
            self.kills[stage_file.read_text() or "between"] += 1
        else:
            assert process.exitcode == 0
            self.seconds[what] = time.monotonic() - started
        self.in_child(check, self.data_dir)
        return is_killed

    def in_child(self, function: object, *arguments: object) -> None:
        """Call a function in a child, since this process must not start threads; fail if it does."""
        process = _CONTEXT.Process(target=function, args=arguments)  # type: ignore[arg-type]
        process.start()
        process.join()
        assert process.exitcode == 0

    def play(self, kill_count: int) -> None:
        """Edit, run and kill so many times; then run to the end and compare with an index from scratch."""
        wanted = self.kills.total() + kill_count
        for what in ("index", "gc"):
            if what not in self.seconds:
                self.run(what)
        while self.kills.total() < wanted:
            if self.dice.random() < 0.5:
                self.edit()
            what = "gc" if self.dice.random() < 0.3 else "index"
            if self.dice.random() < 0.5:
                self.run(what, self.dice.uniform(0.0, 1.1) * self.seconds[what])
            else:
                stage = "gc" if what == "gc" else self.dice.choice(STAGES)
                self.run(what, self.dice.uniform(0.0, 0.4) * self.seconds[what], stage)
        self.run("index")
        self.run("gc")
        self.rounds += 1
        self.in_child(compare, self.data_dir, self.work / f"fresh{self.rounds}", str(self.repository))
