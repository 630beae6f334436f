"""Turn a syntax tree into atoms.

A definition that fits is one atom, decorators and the comment above it included. One that does not is opened:
definitions inside it are atoms of their own, the rest is packed statement by statement, an oversized
statement by its children, and so on down to lines and words. Nothing here recurses: trees can be deeper than
the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from repolake.atoms import AtomList
from repolake.definitions import Definition, find_definition, holds_definitions, is_block, is_class_like
from repolake.grammar import FUNCTION_LIKE, Grammar
from repolake.packing import fits
from repolake.scopes import Scope, ScopeMaker
from repolake.syntax import Node
from repolake.tokens import TextTokens

INDENT = re.compile(rb"\s*")
GROUPS = frozenset({"namespace", "module"})  # kinds whose functions are no methods
CLOSURE_SHARE = 4  # a closure smaller than this part of a chunk stays with the function around it


class _Part(NamedTuple):
    """A node and where its stretch of text starts; `is_header`: a condition above what it governs."""

    place: int
    node: Node
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    """A stretch of text from `start` to `end` that is to become atoms.

    `leads` are earlier places where its definition may start: comments above it.
    """

    nodes: tuple[Node, ...]
    start: int
    end: int
    scope: Scope
    depth: int
    leads: tuple[int, ...] = ()

    @property
    def first(self) -> int:
        """Where the stretch starts with all that leads to it."""
        return self.leads[0] if self.leads else self.start


class SyntaxAtoms:
    """Adds the atoms of one tree to a list. `parsed` is the text as the parser got it."""

    def __init__(
        self, grammar: Grammar, parsed: bytes, tokens: TextTokens, scopes: ScopeMaker, atoms: AtomList
    ) -> None:
        self._grammar = grammar
        self._parsed = parsed
        self._tokens = tokens
        self._data = tokens.data
        self._scopes = scopes
        self._atoms = atoms
        self._found: dict[int, Definition | None] = {}

    def add(self, root: Node) -> None:
        """Add the atoms of the whole text."""
        parts = self._flatten(root, 0)
        stack = self._tasks(parts, (0, len(self._data)), self._scopes.module, 0)[::-1]
        while stack:
            stack.extend(reversed(self._process(stack.pop())))

    def _process(self, task: _Task) -> list[_Task]:
        """Add the atoms of a task, or return the smaller tasks that it falls into."""
        scope, depth = task.scope, task.depth
        node = self._only_node(task)
        if node is not None:
            found = self._definition(node, scope)
            if found is not None:
                return self._process_definition(task, found)
            if self._is_opened_for_definitions(node, scope):
                return self._tasks(self._flatten(node, task.first), (task.first, task.end), scope, depth)
        if fits(self._tokens, task.first, task.end, scope.later_room) and not self._is_tail(task):
            self._atoms.add(task.first, scope, depth)
            return []
        bounds = (task.first, task.end)
        if len(task.nodes) > 1:
            parts = [_Part(node.start_byte, node) for node in task.nodes]
            apart = self._tasks(parts, bounds, scope, depth + 1, inside_line=True)
            if len(apart) > 1:
                return apart
        # Every step goes down the tree, so that this ends.
        if all(not node.named_child_count for node in task.nodes):
            self._atoms.add_lines(*bounds, scope, depth + 1)
            return []
        parts = [
            _Part(child.start_byte, child) for node in task.nodes for child in node.named_children or [node]
        ]
        return self._tasks(parts, bounds, scope, depth + 1, inside_line=len(task.nodes) > 1)

    def _is_tail(self, task: _Task) -> bool:
        """Whether a stretch of several lines begins inside one: cuts between its lines are better."""
        line = self._tokens.line_of(task.first)
        return task.end > self._tokens.line_end(line) + 1 and self._line_start(task.first) is None

    def _find(self, node: Node) -> Definition | None:
        if node.id not in self._found:
            self._found[node.id] = find_definition(node, self._grammar)
        return self._found[node.id]

    def _only_node(self, task: _Task) -> Node | None:
        """Return the one node of a task, comments on its last line left out."""
        others = task.nodes[1:]
        return None if any(node.type not in self._grammar.comments for node in others) else task.nodes[0]

    def _definition(self, node: Node, scope: Scope) -> Definition | None:
        """Return a definition that may get a chunk of its own."""
        found = self._find(node)
        if found is None or scope.kind not in FUNCTION_LIKE or is_class_like(found.kind):
            return found
        if found.is_argument:  # `const rows = list.map(…)`: a value of this function
            return None
        # Closures of a few lines say little without the function around them.
        size = self._tokens.count(node.start_byte, node.end_byte)
        return found if size > scope.room // CLOSURE_SHARE else None

    def _is_opened_for_definitions(self, node: Node, scope: Scope) -> bool:
        return (
            scope.kind not in FUNCTION_LIKE
            and is_block(node, self._grammar)
            and holds_definitions(node, self._grammar)
        )

    def _process_definition(self, task: _Task, found: Definition) -> list[_Task]:
        scope = self._scope(found, task.scope)
        is_group = self._is_group(found)
        if not is_group:
            for start in (*task.leads, task.start):
                if fits(self._tokens, start, task.end, scope.room):
                    if start > task.first:  # a comment too long to stay with it still says whose it is
                        self._atoms.add_fitting(task.first, start, scope, task.depth)
                    self._atoms.add(start, scope, task.depth, whole=True)
                    return []
        parts = self._open(found, is_group)
        return self._tasks(parts, (task.first, task.end), scope, task.depth + 1)

    def _is_group(self, found: Definition) -> bool:
        """Whether a definition only groups others, so that they are chunks even if it fits as a whole."""
        if found.body is None:
            return False
        if found.inner.type in self._grammar.namespaces:
            return holds_definitions(found.body, self._grammar)
        if found.kind != "module":
            return False
        inside = (self._find(child) for child in found.body.named_children)
        return any(member is not None and is_class_like(member.kind) for member in inside)

    def _scope(self, found: Definition, parent: Scope) -> Scope:
        is_member = is_class_like(parent.kind) and parent.kind not in GROUPS
        kind = "method" if found.kind == "function" and is_member else found.kind
        start = found.signature_start
        line_start = self._line_start(start)
        if line_start is not None and self._parsed is not self._data:  # macros stand before it
            match = INDENT.match(self._data, line_start, start)
            start = match.end() if match is not None else start
        return self._scopes.inside(parent, found.name, kind, (start, found.signature_end))

    def _open(self, found: Definition, is_group: bool) -> list[_Part]:
        """Return the parts of a definition that does not fit: what heads it, then what its body holds."""
        core = found.body or found.inner
        parts: list[_Part] = []
        stack = [found.outer]
        while stack:
            node = stack.pop()
            if found.body is not None and node.id == found.body.id:
                parts.extend(self._flatten(node, node.start_byte))
            elif node.start_byte <= core.start_byte and node.end_byte >= core.end_byte:
                stack.extend(reversed(node.named_children))
            else:
                is_header = is_group and node.end_byte <= core.start_byte
                parts.append(_Part(node.start_byte, node, is_header))
        return parts

    def _flatten(self, block: Node, start: int) -> list[_Part]:
        """Return a block's children, blocks with definitions opened, each with the place where it starts.

        The place of the first child of `else: …` is that of the `else`.
        """
        parts: list[_Part] = []
        stack = [_Part(start, block)]
        while stack:
            part = stack.pop()
            children = part.node.named_children
            if not children or not (part.node.id == block.id or self._is_open_block(part.node)):
                parts.append(part)
                continue
            is_pure = part.node.type in self._grammar.bodies or part.node.is_error
            below = [
                _Part(child.start_byte, child, not is_pure and self._is_header(child, part.node))
                for child in children
            ]
            below[0] = below[0]._replace(place=part.place)
            stack.extend(reversed(below))
        return parts

    def _is_header(self, node: Node, block: Node) -> bool:
        """Whether a node is the condition of a block, or its name: on the block's first line."""
        line_of = self._tokens.line_of
        return (
            line_of(node.start_byte) == line_of(block.start_byte)
            and not is_block(node, self._grammar)
            and self._find(node) is None
        )

    def _is_open_block(self, node: Node) -> bool:
        return (
            is_block(node, self._grammar)
            and self._find(node) is None
            and holds_definitions(node, self._grammar)
        )

    def _tasks(
        self,
        parts: Iterable[_Part],
        bounds: tuple[int, int],
        scope: Scope,
        depth: int,
        *,
        inside_line: bool = False,
    ) -> list[_Task]:
        """Group nodes into tasks that start lines, comments with the definition below them."""
        start, end = bounds
        groups: list[tuple[int, list[Node]]] = []
        headers: set[int] = set()
        has_definition = False  # whether the latest group is one
        for place, node, is_header in parts:
            if is_header:
                headers.add(node.id)
            at = self._line_start(place)
            is_definition = self._definition(node, scope) is not None
            if groups and (at is None or at <= groups[-1][0]):
                is_apart = is_definition or (has_definition and node.type not in self._grammar.comments)
                may_cut = place > groups[-1][0] and self._tokens.is_word_start(place)
                if not (may_cut and (inside_line or is_apart)):
                    groups[-1][1].append(node)
                    continue
                at = place
            groups.append((start if not groups else place if at is None else at, [node]))
            has_definition = is_definition
        if not groups:
            self._atoms.add_lines(start, end, scope, depth)
            return []
        tasks: list[_Task] = []
        leads: list[int] = []
        for index, (place, nodes) in enumerate(groups):
            limit = groups[index + 1][0] if index + 1 < len(groups) else end
            if index + 1 < len(groups) and self._leads(nodes, groups[index + 1][1], limit, scope, headers):
                leads.append(place)
                continue
            tasks.append(_Task(tuple(nodes), place, limit, scope, depth, tuple(leads)))
            leads = []
        return self._join_clauses(tasks) if self._grammar.has_clauses else tasks

    def _leads(
        self, nodes: list[Node], following: list[Node], place: int, scope: Scope, headers: set[int]
    ) -> bool:
        """Whether nodes belong to the definition below them: comments without a gap, `if …:`, namespaces."""
        kinds = self._grammar.comments | self._grammar.attached
        if nodes[0].id not in headers:
            if any(node.type not in kinds for node in nodes):
                return False
            stretch = self._data[nodes[-1].start_byte : place]
            if stretch[len(stretch.rstrip()) :].count(b"\n") > 1:
                return False
        if all(node.type in kinds or node.id in headers for node in following):
            return True
        return self._definition(following[0], scope) is not None

    def _join_clauses(self, tasks: list[_Task]) -> list[_Task]:
        """Join neighbours that define one name, if they fit together."""
        joined: list[_Task] = []
        for task in tasks:
            before = joined[-1] if joined else None
            if before is not None and self._are_clauses(before, task):
                joined[-1] = _Task(
                    before.nodes, before.start, task.end, before.scope, before.depth, before.leads
                )
                continue
            joined.append(task)
        return joined

    def _are_clauses(self, before: _Task, task: _Task) -> bool:
        first, second = self._find(before.nodes[0]), self._find(task.nodes[0])
        return (
            first is not None
            and second is not None
            and first.name == second.name
            and not is_class_like(second.kind)
            and fits(self._tokens, before.first, task.end, task.scope.later_room)
        )

    def _line_start(self, place: int) -> int | None:
        """Return the start of the line of `place` if the parser saw only white space before it there."""
        line_start = self._tokens.line_starts[self._tokens.line_of(place)]
        match = INDENT.match(self._parsed, line_start, place)
        return line_start if match is not None and match.end() == place else None
