"""Find the headings of Markdown and reStructuredText, outside code blocks.

Line by line rather than by grammar: tree-sitter's Markdown does not nest the sections of underlined headings,
its reStructuredText nests none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HEADED_LANGUAGES = frozenset({"markdown", "rst"})
ATX = re.compile(rb" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*\r?$")
SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t]*\r?$")
FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
NO_PARAGRAPH = re.compile(rb" {0,3}(?:[#>|]|[-*+][ \t]|\d+[.)][ \t])| {4}|\t|[ \t]*\r?$")
ADORNMENT = re.compile(rb"([!-/:-@\[-`{-~])\1+[ \t]*\r?$")


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading: where its section starts, the bytes of its title's line, depth from 1, and its words."""

    start: int
    title_start: int
    title_end: int
    level: int
    title: str


def find_headings(language: str, data: bytes) -> list[Heading]:
    """Return the headings of a text in order; none for other languages."""
    if language == "markdown":
        return _markdown(data)
    if language == "rst":
        return _rst(data)
    return []


def _lines(data: bytes) -> list[tuple[int, bytes]]:
    lines = []
    place = 0
    for line in data.split(b"\n"):
        lines.append((place, line))
        place += len(line) + 1
    return lines


def _title(raw: bytes) -> str:
    return " ".join(raw.decode("utf-8", "replace").split())


def _span(place: int, line: bytes) -> tuple[int, int]:
    return place, place + len(line.rstrip())


def _markdown(data: bytes) -> list[Heading]:
    found: list[Heading] = []
    fence: bytes | None = None
    before: tuple[int, bytes] | None = None  # a line that an underline would turn into a heading
    for place, line in _lines(data):
        mark = FENCE.match(line)
        if fence is not None:
            if mark is not None and mark[1].startswith(fence) and not line.strip(b" \t\r`~"):
                fence = None
            before = None
        elif mark is not None:
            fence = mark[1]
            before = None
        elif (atx := ATX.match(line)) is not None:
            if title := _title(atx[2] or b""):
                found.append(Heading(place, *_span(place, line), len(atx[1]), title))
            before = None
        elif before is not None and (under := SETEXT.match(line)) is not None:
            level = 1 if under[1].startswith(b"=") else 2
            found.append(Heading(before[0], *_span(*before), level, _title(before[1])))
            before = None
        else:
            # Only a paragraph of one line: longer ones above a rule are rarely meant as headings.
            is_first = before is None and not NO_PARAGRAPH.match(line)
            before = (place, line) if is_first else None
    return found


def _rst(data: bytes) -> list[Heading]:
    lines = _lines(data)
    found: list[Heading] = []
    levels: list[tuple[bytes, bool]] = []  # adornments in the order of their first use
    for number in range(1, len(lines)):
        under = ADORNMENT.match(lines[number][1])
        title = lines[number - 1][1].strip()
        if under is None or not title or ADORNMENT.match(lines[number - 1][1]):
            continue
        if lines[number - 1][1][:1].isspace() and not _is_overlined(lines, number, under[1]):
            continue
        if len(lines[number][1].strip()) < min(len(title.decode("utf-8", "replace")), 4):
            continue
        has_over = _is_overlined(lines, number, under[1])
        if not has_over and number > 1 and lines[number - 2][1].strip():
            continue  # the last line of a paragraph, or a table
        style = (under[1], has_over)
        if style not in levels:
            levels.append(style)
        start = lines[number - 2 if has_over else number - 1][0]
        span = _span(*lines[number - 1])
        found.append(Heading(start, *span, levels.index(style) + 1, _title(title)))
    return found


def _is_overlined(lines: list[tuple[int, bytes]], number: int, mark: bytes) -> bool:
    if number < 2:
        return False
    over = ADORNMENT.match(lines[number - 2][1])
    return over is not None and over[1] == mark
