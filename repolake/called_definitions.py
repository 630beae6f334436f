"""Recognise definitions that are calls: `defmodule Name do … end`, `describe("title", () => …)`."""

from __future__ import annotations

import re
from typing import NamedTuple

from repolake.grammar import Grammar
from repolake.syntax import Node

STEPS = 6
TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
TSQL_PARAMETERS = re.compile(r" @.*")  # without brackets around: part of the name to the grammar
SPACED_DOTS = re.compile(r" ?\.+ ?")
POINTERS = re.compile(r"^&(?:'\w+ )?(?:mut )?(?=\w)")
# Around a name or a part of one: `"shop"."carts"`, `[dbo].[carts]`, `['close']`.
QUOTED_PART = re.compile(r"""(?<![^.])(?:(["'`])([^"'`]+)\1|\[([\w.$ "'`]+)\])(?![^.])""")
QUOTED_KEY = re.compile(r"""(?<=[\w\])])\[ ?(["'`])([^"'`]+)\1 ?\]""")  # `exports["close"]`
TITLED_KINDS = frozenset({"suite", "test"})
TITLES = frozenset({"string", "template_string"})
CLASS_NAMES = frozenset({"identifier", "member_expression", "constant", "scope_resolution"})


class Called(NamedTuple):
    """What a call defines. `value` has the body: the function that the call is given, else the call."""

    kind: str
    name: str
    value: Node


def find_called(call: Node, grammar: Grammar) -> Called | None:
    """Return what a call defines; None for an ordinary call."""
    kind = _kind(call, grammar)
    if kind is None:
        return None
    first = _first_argument(call)
    if first is None:
        return None
    if kind not in TITLED_KINDS:
        name = _head_name(first)
        return Called(kind, name, call) if name else None
    value = call if _has_block(call, grammar) else _given_function(call, grammar)
    title = _title(first)
    return Called(kind, title, value) if title and value is not None else None


def dotted(text: str) -> str:
    """Return a name with dots between its parts, without template arguments, quotes or brackets around."""
    if text.isidentifier():
        return text
    text = " ".join(text.split())
    if "operator" not in text:
        while "<" in text and (shorter := TEMPLATE_ARGUMENTS.sub("", text)) != text:
            text = shorter
        text = SPACED_DOTS.sub(".", text.replace("\\", ".").replace(":", "."))
        text = TSQL_PARAMETERS.sub("", POINTERS.sub("", text))
        text = QUOTED_KEY.sub(r".\2", text)
    else:
        head, _, sign = text.partition("operator")
        call = "()" if sign.replace(" ", "").startswith("()") else ""
        text = f"{head.replace('::', '.')}operator{call or sign.partition('(')[0]}"
    while ".." in text:
        text = text.replace("..", ".")
    while (bare := QUOTED_PART.sub(r"\2\3", text)) != text:
        text = bare
    return text.strip(". ")


def _kind(call: Node, grammar: Grammar) -> str | None:
    """Return the kind by the name of what is called; for `test.describe.only(…)` and `it.each(…)(…)`, too."""
    receiver = call.child_by_field_name("receiver")
    if receiver is not None and receiver.type != "constant":
        return None
    names: list[str] = []
    found: Node | None = call
    for _ in range(STEPS):
        if found is None:
            return None
        if found.type in grammar.call_types:
            found = found.child_by_field_name(grammar.call_types[found.type])
        elif found.type == "member_expression":
            names.append(_text(found.child_by_field_name("property")))
            found = found.child_by_field_name("object")
        else:
            break
    if found is None or found.type != "identifier" or _text(found) not in grammar.calls:
        return None
    return next((grammar.calls[name] for name in names if name in grammar.calls), grammar.calls[_text(found)])


def _first_argument(call: Node) -> Node | None:
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        arguments = next((child for child in call.named_children if child.type == "arguments"), None)
    return arguments.named_children[0] if arguments is not None and arguments.named_child_count else None


def _head_name(head: Node) -> str:
    """Return the name in Elixir's `def name(…) when …`, which is a call with a call as its argument."""
    for _ in range(STEPS):
        following = head.child_by_field_name("left") or head.child_by_field_name("target")
        if following is None:
            break
        head = following
    return dotted(_text(head))


def _title(node: Node) -> str:
    """Return a title as it is written, or the class that stands for one; empty for anything else."""
    text = _text(node)
    if node.type in TITLES:
        return " ".join(text[1:-1].split()).strip(". ")
    return dotted(text) if node.type in CLASS_NAMES and text[:1].isupper() else ""


def _given_function(call: Node, grammar: Grammar) -> Node | None:
    """Return the last argument that is a function."""
    arguments = call.child_by_field_name("arguments")
    for argument in reversed(arguments.named_children if arguments is not None else []):
        if argument.type in grammar.function_values and (
            argument.child_by_field_name("parameters") or argument.child_by_field_name("parameter")
        ):
            return argument
    return None


def _has_block(call: Node, grammar: Grammar) -> bool:
    return any(child.type in grammar.bodies for child in call.named_children)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""
