"""Turn a syntax tree into atoms.

A definition that fits is one atom, decorators and the comment above it included. One that does not is opened:
definitions inside it are atoms of their own, the rest is packed statement by statement, an oversized
statement by its children, and so on down to lines and words. Nothing here recurses: trees can be deeper than
the stack.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from repolake.atoms import AtomList
from repolake.definitions import Definition, find_definition, holds_definitions, is_block, is_class_like
from repolake.grammar import FUNCTION_LIKE, Grammar
from repolake.packing import BYTES_PER_TOKEN, fits
from repolake.scopes import Scope, ScopeMaker
from repolake.syntax import Node
from repolake.syntax_tasks import Groups, Part, Run, Task
from repolake.tokens import NO_LINE, TextTokens

GROUPS = frozenset({"namespace", "module"})  # kinds whose functions are no methods
INDENT = re.compile(rb"\s*")
CLOSURE_SHARE = 4  # a closure smaller than this part of a chunk stays with the function around it


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
        self._head_starts: list[int] = []
        self._found: dict[int, Definition | None] = {}
        self._leading = grammar.comments | grammar.attached

    def add(self, root: Node, captured: Mapping[str, list[Node]]) -> None:
        """Add the atoms of the whole text.

        Nothing is a definition that has no node inside which is `captured` as `definition` or `value`.
        """
        heads = (node for capture in ("definition", "value") for node in captured.get(capture, ()))
        self._head_starts = sorted(head.start_byte for head in heads)
        parts = self._flatten(root, 0)
        stack = self._tasks(parts, (0, len(self._data)), self._scopes.module, 0)[::-1]
        while stack:
            task = stack.pop()
            if isinstance(task, Run):
                self._atoms.add_run(*task)
            else:
                stack.extend(reversed(self._process(task)))

    @property
    def definitions(self) -> dict[int, Definition]:
        """What was found to be a definition, by the id of its inner node."""
        return {found.inner.id: found for found in self._found.values() if found is not None}

    def _process(self, task: Task) -> list[Task | Run]:
        """Add the atoms of a task, or return the smaller tasks that it falls into."""
        nodes, start, end, scope, depth, found, is_alone, leads = task
        first = leads[0] if leads else start
        if is_alone:
            if found is not None:
                return self._process_definition(task, found)
            if self._is_opened_for_definitions(nodes[0], scope):
                return self._tasks(self._flatten(nodes[0], first), (first, end), scope, depth)
        if fits(self._tokens, first, end, scope.later_room) and not self._is_tail(first, end):
            self._atoms.add(first, scope, depth)
            return []
        if len(nodes) > 1:
            parts = [(node.start_byte, node, False) for node in nodes]
            apart = self._tasks(parts, (first, end), scope, depth + 1, inside_line=True)
            if len(apart) > 1 or (isinstance(apart[0], Run) and len(apart[0].starts) > 1):
                return apart
        # Every step goes down the tree, so that this ends.
        if all(not node.named_child_count for node in nodes):
            self._atoms.add_lines(first, end, scope, depth + 1)
            return []
        parts = [
            (child.start_byte, child, False) for node in nodes for child in node.named_children or [node]
        ]
        return self._tasks(parts, (first, end), scope, depth + 1, inside_line=len(nodes) > 1)

    def _is_tail(self, start: int, end: int) -> bool:
        """Whether a stretch of several lines begins inside one: cuts between its lines are better."""
        line = self._tokens.line_of(start)
        return (
            start != self._tokens.line_starts[line]
            and end > self._tokens.line_ends[line] + 1
            and not self._begins_line(start)
        )

    def _has_heads(self, start: int, end: int) -> bool:
        """Whether a definition may stand in a stretch of text: most need no closer look."""
        starts = self._head_starts
        first = bisect_left(starts, start)
        return first < len(starts) and starts[first] < end

    def _may_define(self, node: Node) -> bool:
        return self._has_heads(node.start_byte, node.end_byte)

    def _holds_definitions(self, node: Node) -> bool:
        return self._may_define(node) and holds_definitions(node, self._grammar)

    def _find(self, node: Node) -> Definition | None:
        if not self._may_define(node):
            return None
        if node.id not in self._found:
            self._found[node.id] = find_definition(node, self._grammar)
        return self._found[node.id]

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
            and self._holds_definitions(node)
        )

    def _process_definition(self, task: Task, found: Definition) -> list[Task | Run]:
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
            return self._holds_definitions(found.body)
        if found.kind != "module":
            return False
        inside = (self._find(child) for child in found.body.named_children)
        return any(member is not None and is_class_like(member.kind) for member in inside)

    def _scope(self, found: Definition, parent: Scope) -> Scope:
        is_member = is_class_like(parent.kind) and parent.kind not in GROUPS
        kind = "method" if found.kind == "function" and is_member else found.kind
        start = found.signature_start
        if self._parsed is not self._data:  # macros may stand before it
            line_start = self._tokens.line_starts[self._tokens.line_of(start)]
            if self._begins_line(start):
                before = self._data[line_start:start]
                start -= len(before.lstrip())
        return self._scopes.inside(parent, found.name, kind, (start, found.signature_end))

    def _open(self, found: Definition, is_group: bool) -> list[Part]:
        """Return the parts of a definition that does not fit: what heads it, then what its body holds."""
        core = found.body or found.inner
        parts: list[Part] = []
        stack = [found.outer]
        while stack:
            node = stack.pop()
            if found.body is not None and node.id == found.body.id:
                # What opens the body belongs to the head: a comment below is the first member's.
                opened_at = node.named_children[0] if parts and node.named_child_count else node
                parts.extend(self._flatten(node, opened_at.start_byte))
            elif node.start_byte <= core.start_byte and node.end_byte >= core.end_byte:
                stack.extend(reversed(node.named_children))
            else:
                is_header = is_group and node.end_byte <= core.start_byte
                parts.append((node.start_byte, node, is_header))
        return parts

    def _flatten(self, block: Node, start: int) -> list[Part]:
        """Return a block's children, blocks with definitions opened, each with the place where it starts.

        The place of the first child of `else: …` is that of the `else`.
        """
        parts: list[Part] = []
        stack: list[Part] = [(start, block, False)]
        while stack:
            part = stack.pop()
            place, node, _ = part
            children = node.named_children if node is block or self._is_open_block(node) else []
            if not children:
                parts.append(part)
                continue
            is_pure = node.type in self._grammar.bodies or node.is_error
            below = [
                (child.start_byte, child, not is_pure and self._is_header(child, node)) for child in children
            ]
            below[0] = (place, *below[0][1:])
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
        if node.type in self._grammar.lists:
            return True
        return is_block(node, self._grammar) and self._find(node) is None and self._holds_definitions(node)

    def _tasks(
        self,
        parts: list[Part],
        bounds: tuple[int, int],
        scope: Scope,
        depth: int,
        *,
        inside_line: bool = False,
    ) -> list[Task | Run]:
        """Group nodes into tasks that start lines, comments with the definition below them.

        Statements that take whole lines and fit are atoms at once: most nodes are such.
        """
        if not parts:
            self._atoms.add_lines(*bounds, scope, depth)
            return []
        groups = self._groups(parts, bounds, scope, inside_line=inside_line)
        starts, lines, firsts = groups.starts, groups.lines, groups.firsts
        tasks: list[Task | Run] = []
        leads: list[int] = []
        closed = frozenset[str]() if scope.kind in FUNCTION_LIKE else self._grammar.opened
        has_clauses = self._grammar.has_clauses
        line_sums = self._tokens.line_sums
        room = scope.later_room
        most_bytes = room * BYTES_PER_TOKEN
        run: Run | None = None
        for number, start in enumerate(starts[:-1]):
            limit, line, next_line = starts[number + 1], lines[number], lines[number + 1]
            is_special = number in groups.headers or number in groups.leading
            if is_special and self._leads(number, groups, parts):
                leads.append(start)
                continue
            if (
                number not in groups.found
                and line >= 0
                and next_line >= 0
                and line_sums[next_line] - line_sums[line] <= room
                and limit - start <= most_bytes
                and not leads
                and not has_clauses
                and not (closed and parts[firsts[number]][1].type in closed)
            ):
                if run is None:
                    run = Run([], [], scope, depth)
                    tasks.append(run)
                run.starts.append(start)
                run.lines.append(line)
                continue
            run = None
            nodes = [node for _, node, _ in parts[firsts[number] : firsts[number + 1]]]
            is_alone = all(node.type in self._grammar.comments for node in nodes[1:])
            found = groups.found.get(number)
            task = Task(nodes, start, limit, scope, depth, found, is_alone, tuple(leads))
            leads = []
            before = tasks[-1] if tasks and has_clauses else None
            if isinstance(before, Task) and self._are_clauses(before, task):
                tasks[-1] = before._replace(end=limit)
            else:
                tasks.append(task)
        return tasks

    def _groups(
        self, parts: list[Part], bounds: tuple[int, int], scope: Scope, *, inside_line: bool
    ) -> Groups:
        """Group nodes that cannot be cut apart: each group starts a line, or follows a definition."""
        line_starts, parsed = self._tokens.line_starts, self._parsed
        candidates = self._grammar.candidates if self._has_heads(*bounds) else frozenset[str]()
        comments, leading = self._grammar.comments, self._leading
        groups = Groups([], [], [], {}, set(), set(), set())
        starts, lines, firsts = groups.starts, groups.lines, groups.firsts
        latest = -1  # where the latest group starts
        latest_line = self._tokens.line_of(parts[0][0])  # of the latest part
        for index, (place, node, is_header) in enumerate(parts):
            kind = node.type
            may_define = kind in candidates and self._may_define(node)
            found = self._definition(node, scope) if may_define else None
            line = bisect_right(line_starts, place) - 1
            at = line_starts[line]
            if line == latest_line or (place > at and not parsed[at:place].isspace()):
                at = -1
            latest_line = line
            number = len(starts)
            if not number:
                at = bounds[0]
                line = self._tokens.line_at(at)
            elif at <= latest:
                is_apart = found is not None or (number - 1 in groups.found and kind not in comments)
                may_cut = (inside_line or is_apart) and place > latest
                if not (may_cut and self._tokens.is_word_start(place)):
                    if kind not in leading:
                        groups.leading.discard(number - 1)
                        if not is_header:
                            groups.may_lead.discard(number - 1)
                    continue
                at = place
                line = NO_LINE
            latest = at
            starts.append(at)
            lines.append(line)
            firsts.append(index)
            if found is not None:
                groups.found[number] = found
            if is_header:
                groups.headers.add(number)
                groups.may_lead.add(number)
            if kind in leading:
                groups.leading.add(number)
                groups.may_lead.add(number)
        starts.append(bounds[1])
        lines.append(self._tokens.line_at(bounds[1]))
        firsts.append(len(parts))
        return groups

    def _leads(self, number: int, groups: Groups, parts: list[Part]) -> bool:
        """Whether nodes belong to the definition below them: comments without a gap, `if …:`, namespaces."""
        if number + 1 not in groups.may_lead and number + 1 not in groups.found:
            return False
        if number in groups.headers:
            return True
        _, last, _ = parts[groups.firsts[number + 1] - 1]
        stretch = self._data[last.start_byte : groups.starts[number + 1]]
        return stretch[len(stretch.rstrip()) :].count(b"\n") <= 1

    def _are_clauses(self, before: Task, task: Task) -> bool:
        """Whether neighbours define one name and fit together."""
        first, second = self._find(before.nodes[0]), self._find(task.nodes[0])
        return (
            first is not None
            and second is not None
            and first.name == second.name
            and not is_class_like(second.kind)
            and fits(self._tokens, before.first, task.end, task.scope.later_room)
        )

    def _begins_line(self, place: int) -> bool:
        """Whether the parser saw only white space before `place` in its line."""
        line_start = self._tokens.line_starts[self._tokens.line_of(place)]
        return INDENT.fullmatch(self._parsed, line_start, place) is not None
