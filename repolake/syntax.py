"""Parse source text into a syntax tree; the one importer of tree_sitter.

Nodes are handed out as they are: `type`, `start_byte`, `end_byte`, `named_children`,
`child_by_field_name`. Places are bytes of the UTF-8 text.
"""

from __future__ import annotations

import importlib
import re
from functools import lru_cache

from tree_sitter import Language, Node, Parser

from repolake.grammar import Grammar

LONG_RUN_LINES = 200

__all__ = ["Node", "error_bytes", "missing_package", "parse"]


@lru_cache(maxsize=64)
def _parser(package: str, function: str) -> Parser | None:
    try:
        module = importlib.import_module(package)
        return Parser(Language(getattr(module, function)()))
    except (ImportError, AttributeError, ValueError, TypeError):
        # Not installed, or built for another tree-sitter: the caller cuts by lines and says so.
        return None


def missing_package(grammar: Grammar) -> str | None:
    """Return the name of the grammar's package on PyPI if it is not installed or does not fit."""
    if _parser(grammar.package, grammar.function) is None:
        return grammar.package.replace("_", "-")
    return None


def parse(grammar: Grammar, data: bytes) -> Node | None:
    """Return the root node of UTF-8 text, or None when the language's package is missing."""
    parser = _parser(grammar.package, grammar.function)
    if parser is None:
        return None
    parser.reset()
    tree = parser.parse(_without_long_comments(grammar.costly_comment, data))
    return None if tree is None else tree.root_node


def _without_long_comments(mark: str | None, data: bytes) -> bytes:
    """Return the text with long runs of comment lines blanked, every byte in its place.

    tree-sitter-python takes time quadratic in such a run below an indented block: 40 s for 16,000 lines.
    """
    if mark is None:
        return data
    run = re.compile(
        rb"(?:^[ \t]*%b[^\n]*\n){%d,}" % (re.escape(mark.encode()), LONG_RUN_LINES), re.MULTILINE
    )
    return run.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), data)


def error_bytes(root: Node) -> int:
    """Return how many bytes of a tree lie under syntax errors."""
    total = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error:
            total += node.end_byte - node.start_byte
        elif node.has_error:
            stack.extend(node.children)
    return total
