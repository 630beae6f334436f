"""Parse source text into a syntax tree; the one importer of tree_sitter.

Nodes are handed out as they are: `type`, `start_byte`, `end_byte`, `named_children`,
`child_by_field_name`. Places are bytes of the UTF-8 text.
"""

from __future__ import annotations

import importlib
from functools import lru_cache

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from repolake.grammar import Grammar

__all__ = ["Node", "captures", "error_bytes", "missing_package", "parse"]


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
    """Return the root node of UTF-8 text (see `parser_input`), None if the grammar's package is missing."""
    parser = _parser(grammar.package, grammar.function)
    if parser is None:
        return None
    parser.reset()
    tree = parser.parse(data)
    return None if tree is None else tree.root_node


@lru_cache(maxsize=64)
def _query(grammar: Grammar, pattern: str) -> Query | None:
    parser = _parser(grammar.package, grammar.function)
    if parser is None or parser.language is None:
        return None
    lines = []
    for capture, types in (("definition", grammar.definitions), ("value", grammar.values)):
        known = [name for name in sorted(types) if parser.language.id_for_node_kind(name, True) is not None]
        if known:
            lines.append(f"[{' '.join(f'({name})' for name in known)}] @{capture}")
    try:
        return Query(parser.language, "\n".join([*lines, pattern]))
    except ValueError:
        # A grammar of another version, with other node types than the pattern names.
        return Query(parser.language, "\n".join(lines))


def captures(grammar: Grammar, pattern: str, root: Node) -> dict[str, list[Node]]:
    """Return the nodes that a query pattern captures below `root`, by capture name, found in one walk.

    Besides, `definition` has all nodes that the grammar's entry calls definitions, and `value` those that
    become one by a name. Where the installed grammar has other node types than the pattern names, these two
    are all.
    """
    query = _query(grammar, pattern)
    return QueryCursor(query).captures(root) if query is not None and query.pattern_count else {}


def error_bytes(root: Node) -> int:
    """Return how many bytes of a tree lie under syntax errors.

    Not those of sound statements that such an error holds: a bracket too many makes one of a whole file.
    """
    total = 0
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error:
            total += node.end_byte - node.start_byte
            for child in node.named_children:
                if child.is_extra or child.named_child_count:
                    total -= child.end_byte - child.start_byte
        if node.has_error:
            stack.extend(node.children)
    return total
