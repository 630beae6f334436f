"""Runs the examples of the README. `python tests/readme_examples.py` writes their real output into it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
# A slow machine must not change what an example shows.
SETTINGS = {"REPOLAKE_QUERY_TIMEOUT_SECONDS": "600"}


@dataclass(frozen=True)
class Example:
    """One command of a console block, what the README shows below it, and what it really prints."""

    command: str
    expected: str
    output: str


def run_blocks(text: str, work: Path) -> list[Example]:
    """Run every command of every console block, in order, in one folder that is empty at first.

    Raises CalledProcessError when a command fails.
    """
    examples = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            output = _run(["bash", "-o", "pipefail", "-c", command], work)
            examples.append(Example(command, expected, output))
    return examples


def run_program(program: str, work: Path) -> str:
    """Run a Python program in the folder of the examples and return what it prints."""
    return _run([sys.executable, "-c", program], work)


def _run(command: list[str], work: Path) -> str:
    programs = work / "bin"
    folder = work / "folder"
    if not programs.exists():
        programs.mkdir()
        folder.mkdir()
        for name, arguments in (("repolake", "-m repolake"), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
            (programs / name).chmod(0o755)
    environment = {
        **os.environ,
        **SETTINGS,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }
    result = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return result.stdout


def _written(text: str, work: Path) -> str:
    examples = iter(run_blocks(text, work))

    def block(match: re.Match[str]) -> str:
        count = len(re.findall(r"^\$ ", match[0], re.MULTILINE))
        found = [next(examples) for _ in range(count)]
        lines = [line for e in found for line in (f"$ {e.command}", *e.output.rstrip("\n").split("\n"))]
        return "".join(f"{line.rstrip()}\n" for line in lines if line)

    return BLOCK.sub(block, text)


if __name__ == "__main__":
    readme = ROOT / "README.md"
    with tempfile.TemporaryDirectory() as temporary:
        readme.write_text(_written(readme.read_text(encoding="utf-8"), Path(temporary)), encoding="utf-8")
