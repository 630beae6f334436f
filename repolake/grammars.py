"""Which grammar reads a language, and what its node types mean to a chunker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NONE: frozenset[str] = frozenset()
CLASS_LIKE = frozenset(
    {"class", "interface", "enum", "struct", "trait", "object", "protocol", "record", "union", "module"}
)


@dataclass(frozen=True)
class Grammar:
    """One language. All names are node types or field names of its grammar's node-types.json.

    `definitions` maps a node type to the kind of symbol that it defines. `wrappers` stand around one
    definition and belong to it (decorators, `export`, templates). `blocks` may hold definitions among other
    things: bodies, conditions, name spaces without a name of their own. `attached` stand before a definition
    as its siblings and belong to it, as comments do. `bindings` give a name to a value: a definition if the
    value's type is in `function_values`. `calls` maps the name of a called function to a kind, for languages
    whose definitions are calls. `name_paths` says, for node types whose name is not in the field `name`,
    which fields lead there.
    """

    package: str
    function: str = "language"
    definitions: Mapping[str, str] = field(default_factory=dict)
    wrappers: frozenset[str] = NONE
    blocks: frozenset[str] = NONE
    bodies: frozenset[str] = NONE
    comments: frozenset[str] = frozenset({"comment"})
    attached: frozenset[str] = NONE
    bindings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    function_values: frozenset[str] = NONE
    calls: Mapping[str, str] = field(default_factory=dict)
    name_paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


PYTHON = Grammar(
    package="tree_sitter_python",
    definitions={"function_definition": "function", "class_definition": "class"},
    wrappers=frozenset({"decorated_definition", "expression_statement"}),
    blocks=frozenset(
        {
            "module",
            "block",
            "if_statement",
            "elif_clause",
            "else_clause",
            "try_statement",
            "except_clause",
            "except_group_clause",
            "finally_clause",
            "with_statement",
            "for_statement",
            "while_statement",
            "match_statement",
            "case_clause",
        }
    ),
    bodies=frozenset({"block"}),
    bindings={"assignment": ("left", "right")},
    function_values=frozenset({"lambda"}),
)

GRAMMARS: Mapping[str, Grammar] = {"python": PYTHON}
