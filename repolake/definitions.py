"""Recognise a definition in a syntax tree: its name, kind, signature and body."""

from __future__ import annotations

import re
from typing import NamedTuple

from repolake.called_definitions import dotted, find_called
from repolake.grammar import CLASS_LIKE, FUNCTION_LIKE, Grammar
from repolake.syntax import Node

WRAPPERS_DEEP = 6
NAME_PATH = ("name",)
BLOCKS_DEEP = 12
DECLARATORS_DEEP = 12
CALLS_DEEP = 3
# Stand inside a definition, before its signature.
DECORATIONS = frozenset(
    "decorator annotation marker_annotation attribute_list attribute_item attribute comment line_comment"
    " block_comment attribute_declaration".split()
)
KEYWORD_KINDS = {
    "class": "class",
    "struct": "struct",
    "struct_type": "struct",
    "struct_declaration": "struct",
    "enum": "enum",
    "enum_declaration": "enum",
    "union_declaration": "union",
    "interface": "interface",
    "interface_type": "interface",
    "extension": "extension",
    "actor": "actor",
    "object": "object",
    "table_constructor": "object",
}
TABLES = frozenset({"object", "table_constructor"})
MACRO_NAME = re.compile(r"[A-Z][A-Z0-9_]{2,}")
RECEIVER_TYPE = re.compile(r"(\w+)\s*(?:\[[^]]*\])?\s*,?\s*\)$")


class Definition(NamedTuple):
    """One definition. `outer` holds decorators and the like; the signature is a span of bytes.

    It is looked for when it is asked for: of most definitions only the name is.
    """

    outer: Node
    inner: Node
    value: Node
    name: str
    kind: str
    body: Node | None
    is_argument: bool = False  # of a call whose result gets the name: `const f = memo(() => …)`

    @property
    def signature_start(self) -> int:
        """Where decorators, annotations and attributes end."""
        return _signature_start(self.outer, self.inner)

    @property
    def signature_end(self) -> int:
        """Where the body starts, else the first line ends."""
        if self.body is not None:
            return _before(self.value, self.body)
        if self.kind in FUNCTION_LIKE:
            return self.inner.end_byte
        start = self.signature_start
        text = (self.outer.text or b"")[start - self.outer.start_byte :]
        return start + len(text.partition(b"\n")[0].rstrip())


def find_definition(node: Node, grammar: Grammar) -> Definition | None:
    """Return what `node`, perhaps through wrappers, defines; None for anything else."""
    outer = node
    for _ in range(WRAPPERS_DEEP):
        node_type = node.type
        if node_type not in grammar.candidates:
            return None
        kind = grammar.definitions.get(node_type)
        if kind is not None:
            return _definition(outer, node, node, kind, grammar)
        if node_type in grammar.call_types:
            called = find_called(node, grammar)
            if called is None:
                return None
            return _definition(outer, node, called.value, called.kind, grammar, name=called.name)
        if node_type in grammar.bindings:
            return _bound(outer, node, grammar)
        if node_type in grammar.function_values and outer.type == "export_statement":
            return _definition(outer, node, node, _value_kind(node), grammar, name="default")
        if node_type not in grammar.wrappers:
            return None
        children = node.named_children
        if len(children) > 1:
            children = [child for child in children if child.type not in grammar.comments]
        if not children or (len(children) > 1 and sum(_may_define(child, grammar) for child in children) > 1):
            return None  # several variables or types declared at once
        node = children[-1]
    return None


def holds_definitions(node: Node, grammar: Grammar) -> bool:
    """Whether a definition stands in `node` with only blocks in between."""
    level = [node]
    for _ in range(BLOCKS_DEEP):
        below: list[Node] = []
        for block in level:
            for child in block.named_children:
                if find_definition(child, grammar) is not None:
                    return True
                if is_block(child, grammar):
                    below.append(child)
        if not below:
            return False
        level = below
    return False


def is_block(node: Node, grammar: Grammar) -> bool:
    """Whether a node may hold definitions without being one."""
    return node.type in grammar.opened


def is_class_like(kind: str) -> bool:
    """Whether definitions inside a symbol of this kind are its members."""
    return kind in CLASS_LIKE


def _may_define(node: Node, grammar: Grammar) -> bool:
    return node.type in grammar.definitions or node.type in grammar.bindings


def _bound(outer: Node, node: Node, grammar: Grammar) -> Definition | None:
    value = _at(node, grammar.bindings[node.type][1])
    if value is not None and value.type == "expression_list" and value.named_child_count == 1:
        value = value.named_children[0]
    if value is not None and value.type in grammar.decorating_calls:
        value = _argument(value, grammar)
        found = _definition(outer, node, value, _value_kind(value), grammar) if value is not None else None
        return found._replace(is_argument=True) if found is not None else None
    if value is None or not _is_function_value(value, grammar):
        return None
    return _definition(outer, node, value, _value_kind(value), grammar)


def _argument(call: Node, grammar: Grammar) -> Node | None:
    """Return the function of several lines that a call, or a call in its arguments, is given."""
    level = [call]
    for _ in range(CALLS_DEEP):
        below: list[Node] = []
        for node in level:
            arguments = node.child_by_field_name("arguments")
            for value in reversed(arguments.named_children if arguments is not None else []):
                if value.type in grammar.decorating_calls:
                    below.append(value)
                elif _is_function_value(value, grammar):
                    body = _body(value, grammar)
                    if body is not None and body.type in grammar.bodies and _has_lines(body):
                        return value
        level = below
    return None


def _is_function_value(node: Node, grammar: Grammar) -> bool:
    if node.type not in grammar.function_values:
        return False
    return node.type not in TABLES or _has_functions(node, grammar)


def _has_lines(node: Node) -> bool:
    return node.end_point[0] > node.start_point[0]


def _has_functions(node: Node, grammar: Grammar) -> bool:
    return any(find_definition(child, grammar) is not None for child in node.named_children)


def _value_kind(value: Node) -> str:
    return KEYWORD_KINDS.get(value.type, "function")


def _definition(
    outer: Node, inner: Node, value: Node, kind: str, grammar: Grammar, *, name: str | None = None
) -> Definition | None:
    name = name or _name(inner, grammar)
    body = _body(value, grammar)
    if not name or (body is None and inner.type in grammar.need_body):
        return None
    if kind in {"class", "type"}:
        kind = _keyword_kind(inner, kind)
    if kind == "function" and "." in name and grammar.name_paths.get(inner.type) == ("declarator",):
        kind = "method"  # C++'s `void Cart::clear()` outside its class
    return Definition(outer, inner, value, name, kind, body)


def _keyword_kind(node: Node, kind: str) -> str:
    """Return what the keyword says where one node type stands for classes, structs, enums and more."""
    type_node = node.child_by_field_name("type")
    if type_node is not None and type_node.type in KEYWORD_KINDS:
        return KEYWORD_KINDS[type_node.type]
    for child in node.children:
        child_type = child.type
        if child_type == "modifiers" and child.text is not None and b"enum" in child.text.split():
            return "enum"
        if child_type in KEYWORD_KINDS and not child.is_named:
            return KEYWORD_KINDS[child_type]
    return kind


def _at(node: Node, step: str) -> Node | None:
    """Return a child by field name, else the first of that type; an empty step: the last child."""
    if not step:
        children = node.named_children
        return children[-1] if children else None
    found = node.child_by_field_name(step)
    if found is not None:
        return found
    return next((child for child in node.named_children if child.type == step), None)


def _name(node: Node, grammar: Grammar) -> str | None:
    node_type = node.type
    if node_type in grammar.fixed_names:
        return grammar.fixed_names[node_type]
    found: Node | None = node
    binding = grammar.bindings.get(node_type)
    for step in grammar.name_paths.get(node_type, NAME_PATH if binding is None else binding[:1]):
        found = _at(found, step) if found is not None else None
    found = _declared(found)
    text = found.text if found is not None else None
    if text is None:
        return None
    name = dotted(text.decode("utf-8", "replace"))
    if grammar.has_macros:
        if "(" in name and "operator" not in name:
            return None  # macros made the grammar read several declarations as one
        if MACRO_NAME.fullmatch(name):
            name = _macro_name(node, name)
    owner = grammar.owner_paths.get(node_type)
    if owner is not None and (receiver := _at(node, owner[0])) is not None and receiver.text is not None:
        match = RECEIVER_TYPE.search(receiver.text.decode("utf-8", "replace"))
        name = f"{match[1]}.{name}" if match is not None else name
    return name


def _declared(node: Node | None) -> Node | None:
    """Follow C's declarators, `*f(int a)`, inwards to the name."""
    for _ in range(DECLARATORS_DEEP):
        if node is None:
            return None
        following = node.child_by_field_name("declarator")
        if node.type == "operator_cast":
            return _at(node, "type")
        if following is None and node.type in {"parenthesized_declarator", "reference_declarator"}:
            following = _at(node, "")
        if following is None:
            return node
        node = following
    return node


def _macro_name(node: Node, macro: str) -> str:
    """Return what a macro such as `TEST(Suite, Name) { … }` defines: `Suite.Name`, else its first word.

    `macro` itself for an ordinary function with a name in capitals.
    """
    declarator = node.child_by_field_name("declarator")
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    if parameters is None or node.child_by_field_name("type") is not None:
        return macro
    words: list[str] = []
    for parameter in parameters.named_children:
        is_word = parameter.named_child_count == 1 and parameter.named_children[0].type == "type_identifier"
        if not is_word or parameter.text is None:
            break
        words.append(parameter.text.decode("utf-8", "replace"))
    if not words or (len(words) == 1 and "_" not in macro):  # a constructor
        return macro
    return ".".join(words) if len(words) == parameters.named_child_count else words[0]


def _body(node: Node, grammar: Grammar) -> Node | None:
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    if node.type in grammar.bodies:
        return node
    inside = node.child_by_field_name("type")
    for parent in (node, inside) if inside is not None else (node,):
        for child in parent.named_children:
            if child.type in grammar.bodies:
                return child
    if inside is not None:
        return inside if inside.type in grammar.bodies else inside.child_by_field_name("body")
    return None


def _before(value: Node, body: Node) -> int:
    """Return where the signature ends: the last thing before the body that is no comment."""
    # A node's siblings are asked of its parent: tree-sitter looks for `prev_sibling` from the root down.
    keyword = body.child(0) if body.child_count else None
    if keyword is not None and not keyword.is_named and keyword.type.isalpha():
        return keyword.end_byte  # `interface`, `do`: part of the signature though the body begins with it
    end = body.start_byte
    stack = list(reversed(value.children))
    while stack:
        child = stack.pop()
        if child.start_byte >= body.start_byte:
            break
        if child.end_byte > body.start_byte:
            stack.extend(reversed(child.children))
        elif not child.is_extra:
            end = child.end_byte
    return end


def _signature_start(outer: Node, inner: Node) -> int:
    """Return where decorators, annotations and attributes end."""
    node = outer
    for _ in range(WRAPPERS_DEEP * 2):
        for first in node.children:
            if not _is_decoration(first):
                break
        else:
            return node.start_byte
        is_on_path = first.start_byte <= inner.start_byte and first.end_byte >= inner.end_byte
        if first.type != "modifiers" and (node.id == inner.id or not is_on_path):
            return first.start_byte
        node = first
    return node.start_byte


def _is_decoration(node: Node) -> bool:
    node_type = node.type
    if node_type == "modifiers":
        return all(_is_decoration(child) for child in node.children)
    return node_type in DECORATIONS
