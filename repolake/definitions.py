"""Recognise a definition in a syntax tree: its name, kind, signature and body."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repolake.grammars import CLASS_LIKE, Grammar
from repolake.syntax import Node

WRAPPERS_DEEP = 6
BLOCKS_DEEP = 12
SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition. `outer` holds decorators and the like; the signature is a span of bytes."""

    outer: Node
    inner: Node
    name: str
    kind: str
    signature_start: int
    signature_end: int
    body: Node | None


def find_definition(node: Node, grammar: Grammar, data: bytes) -> Definition | None:
    """Return what `node`, perhaps through wrappers, defines; None for anything else."""
    outer = node
    signature_start = node.start_byte
    for _ in range(WRAPPERS_DEEP):
        kind = grammar.definitions.get(node.type)
        if kind is not None:
            return _definition(outer, node, node, kind, signature_start, grammar)
        binding = grammar.bindings.get(node.type)
        if binding is not None:
            value = node.child_by_field_name(binding[1])
            if value is None or value.type not in grammar.function_values:
                return None
            kind = "class" if "class" in value.type else "function"
            return _definition(outer, node, value, kind, signature_start, grammar)
        if node.type not in grammar.wrappers:
            return None
        children = [child for child in node.named_children if child.type not in grammar.comments]
        if not children:
            return None
        last = children[-1]
        if len(children) > 1 and children[-2].type == last.type:
            return None  # several variables declared at once
        if node.child_by_field_name("definition") is not None:
            signature_start = last.start_byte  # decorators are no part of a signature
        node = last
    return None


def holds_definitions(node: Node, grammar: Grammar, data: bytes) -> bool:
    """Whether a definition stands in `node` with only blocks in between."""
    level = [node]
    for _ in range(BLOCKS_DEEP):
        below: list[Node] = []
        for block in level:
            for child in block.named_children:
                if child.type in grammar.blocks or child.type == "ERROR":
                    below.append(child)
                elif find_definition(child, grammar, data) is not None:
                    return True
        if not below:
            return False
        level = below
    return False


def is_class_like(kind: str) -> bool:
    """Whether definitions inside a symbol of this kind are its members."""
    return kind in CLASS_LIKE


def _definition(
    outer: Node, inner: Node, value: Node, kind: str, start: int, grammar: Grammar
) -> Definition | None:
    name = _name(inner, grammar)
    if name is None:
        return None
    body = _body(value, grammar)
    end = _before(value, body) if body is not None else inner.end_byte
    return Definition(outer, inner, name, kind, start, end, body)


def _name(node: Node, grammar: Grammar) -> str | None:
    path = grammar.name_paths.get(node.type)
    binding = grammar.bindings.get(node.type)
    if path is None:
        path = ("name",) if binding is None else (binding[0],)
    found: Node | None = node
    for name in path:
        found = found.child_by_field_name(name) if found is not None else None
    if found is None or found.text is None:
        return None
    return SPACE.sub(" ", found.text.decode("utf-8", "replace")).strip()


def _body(node: Node, grammar: Grammar) -> Node | None:
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    for child in node.named_children:
        if child.type in grammar.bodies:
            return child
    return None


def _before(value: Node, body: Node) -> int:
    """Return where the signature ends: the last thing before the body that is no comment."""
    # A node's siblings are asked of its parent: tree-sitter looks for `prev_sibling` from the root down.
    end = body.start_byte
    for child in value.children:
        if child.start_byte >= body.start_byte:
            break
        if not child.is_extra:
            end = child.end_byte
    return end
