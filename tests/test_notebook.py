"""Notebooks become text whose lines are those of the file."""

from __future__ import annotations

import json

from repolake.notebook import notebook_language, notebook_text
from repolake.text_decoding import file_text

CELLS = [
    {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "\n", "Some words."]},
    {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": [
            {"data": {"image/png": "iVBORw0KGgo" * 20}, "output_type": "display_data", "metadata": {}}
        ],
        "source": [
            "%matplotlib inline\n",
            "!pip install x\n",
            "def area(r):\n",
            '    return "π" * r  # "quoted" \\ \n',
        ],
    },
    {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": []},
    {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": ["area(2)"]},
]


def _notebook(cells: object, language: str = "python") -> dict[str, object]:
    return {
        "cells": cells,
        "metadata": {"kernelspec": {"language": language, "name": "k"}, "language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def test_each_source_line_stands_on_its_own_line_of_the_file() -> None:
    file = json.dumps(_notebook(CELLS), indent=1, ensure_ascii=False) + "\n"
    text = notebook_text(file, "python")
    assert text is not None
    file_lines, lines = file.split("\n"), text.split("\n")
    assert len(lines) == len(file_lines)
    for made in (
        "# # Title",
        "# Some words.",
        "# %matplotlib inline",
        "# !pip install x",
        "def area(r):",
        "area(2)",
    ):
        assert json.dumps(made.removeprefix("# "))[1:-1] in file_lines[lines.index(made)]
    assert '    return "π" * r  # "quoted" \\ ' in lines
    assert "iVBOR" not in text
    compile(text, "notebook", "exec")


def test_a_notebook_on_one_line_has_its_cells_one_below_the_other() -> None:
    text = notebook_text(json.dumps(_notebook(CELLS)), "python")
    assert text is not None
    assert text.split("\n")[:4] == ["# # Title", "", "# Some words.", "# %matplotlib inline"]
    compile(text, "notebook", "exec")


def test_a_cell_as_one_string_and_version_3_are_read() -> None:
    single = _notebook([{"cell_type": "code", "source": "a = 1\nb = 2", "metadata": {}, "outputs": []}])
    assert notebook_text(json.dumps(single, indent=1), "python") == "a = 1\nb = 2\n"
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}], "nbformat": 3}
    assert notebook_text(json.dumps(old), "python") == "a = 1\nb = 2\n"


def test_the_kernel_names_the_language_and_its_comments() -> None:
    for kernel, language in (("python", "python"), ("python3", "python"), ("R", "r"), ("C++", "cpp")):
        assert notebook_language(json.dumps(_notebook(CELLS, kernel))) == language
    scala = notebook_text(json.dumps(_notebook(CELLS, "scala")), "scala")
    assert scala is not None
    assert scala.startswith("// # Title\n")


def test_what_is_no_notebook_gives_nothing() -> None:
    for text in ("", "not json", "[]", '{"cells": 3}', "[" * 100_000):
        assert notebook_text(text, "python") is None
        assert notebook_language(text) is None


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    file = json.dumps(_notebook(CELLS), indent=1)
    plain = file_text("a.ipynb", "python", file.encode())
    windows = file_text("a.ipynb", "python", b"\xef\xbb\xbf" + file.replace("\n", "\r\n").encode())
    assert plain is not None
    assert windows is not None
    assert plain.text == windows.text
