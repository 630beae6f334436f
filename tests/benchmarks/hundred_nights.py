"""Plays nights on a repository's own history: one commit a night, index then gc, and draws what each cost.

python tests/benchmarks/hundred_nights.py REPOSITORY [--nights 100] [--commits-per-night 1] [--picture FILE]

The model is `fast`. Printed and drawn: seconds, embedded chunks, bytes written, size of lake and databases.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from repolake import pipeline
from repolake.garbage import collect_garbage
from repolake.records import RepositorySpec
from repolake.settings import Settings


@dataclass(frozen=True)
class Night:
    """What one night cost and left."""

    seconds: float
    gc_seconds: float
    embeddings_new: int
    chunks: int
    lake_written_bytes: int
    database_bytes: int
    lake_bytes: int


def git(folder: Path, *arguments: str) -> str:
    """Run git and return what it prints."""
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def files(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return time of change and bytes of each file of the lake."""
    found = {}
    for path in (folder / "lake").rglob("*"):
        if path.is_file():
            found[path] = (path.stat().st_mtime_ns, path.stat().st_size)
    return found


def play(repository: Path, work: Path, nights: int, commits_per_night: int) -> list[Night]:
    """Index the repository at one commit after the other."""
    bare = work / "repository.git"
    subprocess.run(["git", "clone", "--quiet", "--bare", str(repository), str(bare)], check=True)
    commits = git(bare, "rev-list", "--first-parent", "--reverse", "HEAD").split()[::-commits_per_night][
        : nights + 1
    ][::-1]
    git(bare, "symbolic-ref", "HEAD", "refs/heads/night")
    settings = Settings(data_dir=work / "data", model="fast", gc_grace_hours=0)
    spec = RepositorySpec(str(bare), name="repository")
    played = []
    for number, commit in enumerate(commits):
        git(bare, "update-ref", "refs/heads/night", commit)
        before = files(settings.data_dir)
        started = time.perf_counter()
        [entry] = pipeline.index([spec], settings=settings).repositories
        indexed = time.perf_counter()
        report = collect_garbage(settings=settings)
        ended = time.perf_counter()
        written = sum(
            size for path, (at, size) in files(settings.data_dir).items() if before.get(path) != (at, size)
        )
        night = Night(
            indexed - started,
            ended - indexed,
            entry.embeddings_new,
            entry.chunks,
            written,
            report.database_bytes,
            report.lake_bytes,
        )
        played.append(night)
        print(
            f"{number:3} {commit[:10]} {night.seconds:6.2f} s  gc {night.gc_seconds:5.2f} s"
            f"  {night.embeddings_new:5} of {night.chunks} embedded  lake +{written / 1e6:6.2f} MB ="
            f" {night.lake_bytes / 1e6:6.2f} MB  database {night.database_bytes / 1e6:6.2f} MB",
            flush=True,
        )
    return played


def draw(played: list[Night], picture: Path) -> None:
    """Draw four panels over the nights."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    nights = range(len(played))
    axes[0][0].plot(nights, [n.seconds for n in played], label="index")
    axes[0][0].plot(nights, [n.gc_seconds for n in played], label="gc")
    axes[0][0].set(title="seconds", ylim=(0, None))
    axes[0][1].bar(nights, [max(n.embeddings_new, 0) for n in played], label="embedded")
    axes[0][1].plot(nights, [n.chunks for n in played], color="C1", label="indexed")
    axes[0][1].set(title="chunks", yscale="symlog", ylim=(0, None))
    axes[1][0].plot(nights, [n.lake_written_bytes / 1e6 for n in played], label="lake")
    axes[1][0].plot(nights, [n.database_bytes / 1e6 for n in played], label="database")
    axes[1][0].set(title="MB written", xlabel="night", yscale="symlog", ylim=(0, None))
    axes[1][1].plot(nights, [n.lake_bytes / 1e6 for n in played], label="lake")
    axes[1][1].plot(nights, [n.database_bytes / 1e6 for n in played], label="databases")
    axes[1][1].set(title="MB on disk after gc", xlabel="night", ylim=(0, None))
    for axis in axes.flat:
        axis.legend()
        axis.grid(alpha=0.3)
    figure.savefig(picture, dpi=90)


def main() -> None:
    """Read the arguments, play, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--nights", type=int, default=100)
    parser.add_argument("--commits-per-night", type=int, default=1)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        played = play(
            arguments.repository.resolve(), Path(work), arguments.nights, arguments.commits_per_night
        )
    later = played[1:]
    print(
        f"first night {played[0].seconds:.1f} s, {played[0].embeddings_new} embedded; later nights: median"
        f" {sorted(n.seconds for n in later)[len(later) // 2]:.2f} s,"
        f" {sum(n.embeddings_new for n in later)} embedded in all"
    )
    if arguments.picture is not None:
        draw(played, arguments.picture)


if __name__ == "__main__":
    main()
