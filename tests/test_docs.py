"""The README cannot drift: names are complete, and its examples give what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from readme_examples import run_blocks, run_program
from typer.main import get_command

from repolake.commands import app
from repolake.evaluate_command import evaluate  # registers the command
from repolake.export_command import export
from repolake.mcp_command import mcp
from repolake.records import Kind
from repolake.search_command import search
from repolake.serve_command import serve  # registers the command
from repolake.settings import Settings, known_names
from repolake.upkeep_commands import rollback  # registers its commands

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PUBLIC_MACROS = (
    "search_text",
    "search_vector",
    "search_hybrid",
    "reference_arm",
    "selected_arm",
    "recent_chunks",
    "definitions",
    "references_to",
    "callers",
    "snapshot_diff",
    "search",
    "embed",
)


def test_every_command_and_option_is_in_the_readme_and_has_help():
    group = get_command(app)
    added = {evaluate, export, mcp, rollback, search, serve}
    assert {command.__name__ for command in added} <= set(group.commands)  # type: ignore[attr-defined]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        assert f"`repolake {name}" in README
        assert command.help
        for parameter in command.params:
            assert getattr(parameter, "help", "x"), f"{name} {parameter.name} has no help"
            for option in parameter.opts:
                if option.startswith("-") and option != "--help":
                    assert f"`{option}" in README, f"{option} of {name} is not in the README"


def test_every_setting_is_in_the_readme_with_its_default_and_description():
    for name, field in Settings.model_fields.items():
        default = "" if field.default in {None, ""} else f"`{field.default}`"
        assert f"| `REPOLAKE_{name.upper()}` | {default} | {field.description} |" in README


def test_the_readme_names_no_setting_that_does_not_exist():
    assert set(re.findall(r"REPOLAKE_[A-Z_]+", README)) <= known_names()


def test_every_public_macro_is_in_the_readme():
    for name in PUBLIC_MACROS:
        assert f"{name}(" in README


def test_every_kind_is_known_to_the_command_line():
    help_text = subprocess.run(
        [sys.executable, "-m", "repolake", "search", "--help"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for kind in Kind:
        assert kind.value in help_text


def test_ci_ends_with_the_test_command_of_the_readme():
    last = (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    assert f".venv/bin/{last}\n" in README


def masked(text: str) -> list[list[str]]:
    """Return the words of each line without run ids, hashes and digits: they depend on Python's version."""
    text = re.sub(r"index-\w+-\w+|\b[0-9a-f]{10,}\b|\d[\d.,]*", "0", text)
    return [line.split() for line in text.splitlines() if line.strip(" -│┌┐└┘├┤┬┴┼─")]


def test_the_readme_examples_give_what_it_shows(tmp_path: Path):
    blocks = run_blocks(README, tmp_path)
    assert len(blocks) > 5
    for example in blocks:
        assert masked(example.output) == masked(example.expected), example.command
    [program] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(run_program(program, tmp_path).splitlines()) == 3
