"""The definitions in a text: dotted path and lines of each, however deep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from repolake.definitions import find_definition
from repolake.grammars import GRAMMARS
from repolake.parser_input import parser_input
from repolake.syntax import parse


class OutlineEntry(NamedTuple):
    """One definition; lines are 1-based and inclusive, decorators included."""

    symbol: str
    start_line: int
    end_line: int


def outline(text: str, language: str) -> Iterator[OutlineEntry]:
    """Yield the definitions of a text in no particular order; none for a language without a grammar."""
    grammar = GRAMMARS.get(language)
    root = parse(grammar, parser_input(grammar, text.encode())) if grammar is not None else None
    if grammar is None or root is None:
        return
    stack = [(root, "")]
    while stack:
        node, path = stack.pop()
        for child in node.named_children:
            found = find_definition(child, grammar)
            if found is None:
                stack.append((child, path))
                continue
            symbol = f"{path}.{found.name}" if path else found.name
            yield OutlineEntry(symbol, found.outer.start_point[0] + 1, found.outer.end_point[0] + 1)
            stack.append((found.body or found.inner, symbol))
