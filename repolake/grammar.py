"""What an entry of the table of grammars says, and which kinds of symbols hold others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CLASS_LIKE = frozenset(
    "class interface enum struct trait object protocol record union module impl extension namespace actor"
    " instance".split()
)
FUNCTION_LIKE = frozenset({"function", "method", "test"})


@dataclass(frozen=True, eq=False)
class Grammar:
    """What the node types of one language mean. A *path* leads to a child by field names or node types."""

    package: str
    function: str = "language"
    # node type → kind of symbol that it defines
    definitions: Mapping[str, str] = field(default_factory=dict)
    # definitions that only group others: opened even if they fit
    namespaces: frozenset[str] = frozenset()
    # stand around one definition and belong to it: decorators, `export`, templates
    wrappers: frozenset[str] = frozenset()
    # bodies of definitions, and the root: their children are statements
    bodies: frozenset[str] = frozenset()
    # statements and directives that may hold definitions
    blocks: frozenset[str] = frozenset()
    # hold statements only, and perhaps the comment of a definition below: opened wherever they stand
    lists: frozenset[str] = frozenset()
    comments: frozenset[str] = frozenset({"comment"})
    # whether words that only a preprocessor knows stand in heads of classes and functions
    has_macros: bool = False
    # siblings before a definition that belong to it, as comments do
    attached: frozenset[str] = frozenset()
    # node type → paths to a name and to a value, a definition if the value is of `function_values`
    bindings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    function_values: frozenset[str] = frozenset()
    # calls around such a value that give it back changed: `memo(() => …)`
    decorating_calls: frozenset[str] = frozenset()
    # definitions only if they have a body; without one they are declarations or uses
    need_body: frozenset[str] = frozenset()
    # node type → path to its name, where that is not the field `name`
    name_paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # node type → the word that stands for a name
    fixed_names: Mapping[str, str] = field(default_factory=dict)
    # node type → path to what a member is a member of, where it stands outside
    owner_paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # name of a called function → kind, where definitions are calls
    calls: Mapping[str, str] = field(default_factory=dict)
    # node type of such a call → the field that names what is called
    call_types: Mapping[str, str] = field(default_factory=dict)
    # whether neighbours of one name are clauses of one definition
    has_clauses: bool = False
    # may hold definitions without being one; derived
    opened: frozenset[str] = field(init=False, default=frozenset())
    # what gives a bound name a definition; derived
    values: frozenset[str] = field(init=False, default=frozenset())
    # all node types that can lead to a definition; derived
    candidates: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        # A call that decorates is a definition only with a function that it is given, one of these already.
        values = self.function_values.union(self.call_types.keys() - self.decorating_calls)
        candidates = values.union(self.definitions, self.bindings, self.wrappers, self.call_types)
        object.__setattr__(self, "opened", self.bodies | self.blocks | {"ERROR"})
        object.__setattr__(self, "values", frozenset(values))
        object.__setattr__(self, "candidates", frozenset(candidates))
