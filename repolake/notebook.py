"""Jupyter notebooks → text: code and markdown cells, on the lines where they stand in the file.

The notebook format writes each source line as one string on one line of JSON. The text made here has the
same number of lines as the file: a source line keeps its line number, every other line is blank. A chunk's
span then points into the `.ipynb` as it is on disk. Where a tool wrote several source lines into one JSON
string, that is impossible; then the cells stand one below the other and lines count in that text.

Markdown, raw cells, and lines that are no code (`%magic`, `!shell`) become comments, so that the rest
parses. Outputs, images and metadata are dropped.
"""

from __future__ import annotations

import json
import re
from typing import Any

_SLASH_COMMENTS = frozenset(
    "javascript typescript java scala kotlin csharp go rust cpp c swift groovy php dart".split()
)
_DASH_COMMENTS = frozenset({"sql", "lua", "haskell"})
_MAGIC = re.compile(r"^\s*[%!?]")
_SOURCE_START = re.compile(r'^\s*"source"\s*:\s*\[\s*$')
_SOURCE_LINE = re.compile(r'^\s*("(?:[^"\\]|\\.)*")\s*,?\s*$')
_KERNEL_NAMES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", "ir": "r", "sh": "bash", "ts": "typescript"}


def notebook_language(text: str) -> str | None:
    """Return the language of a notebook's kernel, such as `python` or `r`; None if it is no notebook."""
    content = _parse(text)
    if content is None:
        return None
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for section, name in (("language_info", "name"), ("kernelspec", "language")):
        values = metadata.get(section)
        found = values.get(name) if isinstance(values, dict) else None
        if isinstance(found, str) and found:
            lowered = found.lower()
            return _KERNEL_NAMES.get(lowered, "python" if lowered.startswith("python") else lowered)
    return "python"


def notebook_text(text: str, language: str) -> str | None:
    """Return the cells as text of `language`, or None when the file is no notebook."""
    content = _parse(text)
    if content is None:
        return None
    cells = _cells(content)
    lines = text.split("\n")
    placed = _placed_lines(lines, cells)
    comment = "// " if language in _SLASH_COMMENTS else "-- " if language in _DASH_COMMENTS else "# "
    if placed is None:
        return "".join(
            _cell_line(line, kind, comment) + "\n" for kind, source in cells for line in source.split("\n")
        )
    made = [""] * len(lines)
    for number, kind, line in placed:
        made[number] = _cell_line(line, kind, comment)
    return "\n".join(made)


def _parse(text: str) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("cells", content.get("worksheets")), list):
        return None
    return content


def _cells(content: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (cell type, source) of each cell with a source; version 3 kept them in worksheets."""
    if isinstance(content.get("cells"), list):
        raw = content["cells"]
    else:
        sheets = [sheet for sheet in content["worksheets"] if isinstance(sheet, dict)]
        raw = [cell for sheet in sheets for cell in sheet.get("cells") or []]
    cells = []
    for cell in raw:
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", cell.get("input", ""))
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str) and source.strip():
            cells.append((str(cell.get("cell_type")), source))
    return cells


def _placed_lines(lines: list[str], cells: list[tuple[str, str]]) -> list[tuple[int, str, str]] | None:
    """Return (line index in the file, cell type, source line), or None if a line holds several of them."""
    blocks = []
    index = 0
    while index < len(lines):
        if _SOURCE_START.match(lines[index]):
            block = []
            index += 1
            while index < len(lines) and (match := _SOURCE_LINE.match(lines[index].rstrip("\r"))):
                block.append((index, str(json.loads(match[1]))))
                index += 1
            if "".join(source for _, source in block).strip():
                blocks.append(block)
        index += 1
    if ["".join(source for _, source in block) for block in blocks] != [source for _, source in cells]:
        return None
    placed = []
    for (kind, _), block in zip(cells, blocks, strict=True):
        for number, source in block:
            line = source.removesuffix("\n")
            if "\n" in line:
                return None
            placed.append((number, kind, line))
    return placed


def _cell_line(line: str, kind: str, comment: str) -> str:
    if kind == "code" and not _MAGIC.match(line):
        return line
    return (comment + line) if line.strip() else ""
