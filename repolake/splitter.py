"""Cut one file along its syntax into chunks that fit a budget, each knowing its definition.

A definition that fits is one chunk, decorators and the comment above it included. One that does not is
opened: definitions inside it are chunks of their own, the rest is packed statement by statement, an oversized
statement by its children, and so on down to lines and words (cAST, arXiv 2506.15655). No step recurses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from repolake.definitions import Definition, find_definition, holds_definitions, is_class_like
from repolake.grammars import GRAMMARS, Grammar
from repolake.packing import MODULE_KIND, MODULE_SYMBOL, Atom, Scope, Span, fits, pack
from repolake.records import Chunker
from repolake.syntax import Node, has_errors, missing_package, parse
from repolake.tokens import TextTokens, TokenCounter
from repolake.windows import fixed_windows

HEADER_RESERVE = 32  # `# `, a file label of 24 characters, ` :: `, and the model's special tokens
DEEP = 1_000  # depth of cuts inside a line: any other place is better
ERRORS = frozenset({"ERROR"})


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of one text: bytes of its UTF-8 form, 1-based inclusive lines, tokens as embedded."""

    symbol: str
    symbol_kind: str
    signature: str | None
    signature_token_count: int
    is_continuation: bool
    token_count: int
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class FileChunks:
    """The chunks of one text in order. `note` says why a text was not cut along its syntax."""

    chunks: tuple[Chunk, ...]
    has_syntax_error: bool = False
    note: str | None = None


class _Part(NamedTuple):
    """A node and where its stretch of text starts; `is_header`: a condition above what it governs."""

    place: int
    node: Node
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class _Task:
    """A stretch of text from `start` to `end`, made of these nodes, that is to become atoms."""

    nodes: tuple[Node, ...]
    start: int
    end: int
    scope: Scope
    depth: int
    leads: tuple[int, ...] = ()  # earlier places where a definition may start: comments above it


def split(
    text: str, language: str, budget: int, counter: TokenCounter, chunker: Chunker = Chunker.AST
) -> FileChunks:
    """Return the chunks of `text`; each takes at most `budget` tokens as embedded, header included."""
    data = text.encode()
    tokens = TextTokens(counter, text, data)
    if chunker is Chunker.FIXED:
        splitter = _Splitter(tokens, counter, budget, None)
        splitter.add_lines(0, len(data), splitter.module, 0)
        return FileChunks(splitter.windows())
    grammar = GRAMMARS.get(language)
    note = missing_package(grammar) if grammar is not None else None
    root = parse(grammar, data) if grammar is not None else None
    splitter = _Splitter(tokens, counter, budget, grammar)
    if root is None or grammar is None:
        splitter.add_lines(0, len(data), splitter.module, 0)
        note = f"{note} is not installed: {language} files are cut by lines" if note else None
        return FileChunks(splitter.chunks(), False, note)
    splitter.run(root)
    return FileChunks(splitter.chunks(), has_errors(root))


class _Splitter:
    def __init__(
        self, tokens: TextTokens, counter: TokenCounter, budget: int, grammar: Grammar | None
    ) -> None:
        self._tokens = tokens
        self._counter = counter
        self._data = tokens.data
        self._budget = budget
        self._grammar = grammar or Grammar("")
        self._atoms: list[Atom] = []
        self._root_id = -1
        self.module = self._scope(MODULE_SYMBOL, MODULE_KIND, None, 0, 0)

    def run(self, root: Node) -> None:
        """Turn the tree into atoms."""
        self._root_id = root.id
        size = len(self._data)
        stack = self._tasks(self._flatten(root, 0), 0, size, self.module, 0)[::-1]
        while stack:
            stack.extend(reversed(self._process(stack.pop())))

    def chunks(self) -> tuple[Chunk, ...]:
        """Pack the atoms and describe each chunk."""
        return tuple(self._describe(span) for span in pack(self._tokens, self._atoms))

    def windows(self) -> tuple[Chunk, ...]:
        """Cut the atoms into fixed windows and describe each chunk."""
        return tuple(self._describe(span) for span in fixed_windows(self._tokens, self._atoms, self.module))

    def add_lines(self, start: int, end: int, scope: Scope, depth: int) -> None:
        """Add one atom for each line, better cuts after blank lines; of a line that does not fit, its words."""
        tokens = self._tokens
        line = tokens.line_of(start)
        after_blank = False
        while line < len(tokens.line_starts) and (place := max(start, tokens.line_starts[line])) < end:
            line_end = min(end, tokens.line_end(line) + 1)
            content = self._data[place:line_end]
            if content.isspace():
                after_blank = True
                if place == start:
                    self._atoms.append(Atom(place, scope, depth))
            else:
                indent = len(content) - len(content.lstrip())
                self._atoms.append(Atom(place, scope, depth + (0 if after_blank else 1 + min(indent, 99))))
                after_blank = False
                if not fits(tokens, place, line_end, scope.later_room):
                    self._add_words(line, place, line_end, scope)
            line += 1

    def _add_words(self, line: int, start: int, end: int, scope: Scope) -> None:
        starts, _ = self._tokens.words_in(line)
        self._atoms.extend(Atom(place, scope, DEEP) for place in starts if start < place < end)

    def _process(self, task: _Task) -> list[_Task]:
        """Add the atoms of a task, or return the smaller tasks that it falls into."""
        scope = task.scope
        if len(task.nodes) == 1:
            node = task.nodes[0]
            found = self._definition(node, scope)
            if found is not None:
                return self._process_definition(task, found)
            if self._is_split_for_definitions(node, scope):
                return self._tasks(self._flatten(node, task.start), task.start, task.end, scope, task.depth)
        start = min((*task.leads, task.start))
        if fits(self._tokens, start, task.end, scope.later_room):
            self._atoms.append(Atom(start, scope, task.depth))
            return []
        depth = task.depth + 1
        if len(task.nodes) > 1:
            parts = [_Part(node.start_byte, node) for node in task.nodes]
            apart = self._tasks(parts, start, task.end, scope, depth, inside_line=True)
            if len(apart) > 1:
                return apart
        # Every step goes down the tree, so that this ends.
        parts = [
            _Part(child.start_byte, child) for node in task.nodes for child in node.named_children or [node]
        ]
        if all(not node.named_children for node in task.nodes):
            self.add_lines(start, task.end, scope, depth)
            return []
        return self._tasks(parts, start, task.end, scope, depth, inside_line=len(task.nodes) > 1)

    def _definition(self, node: Node, scope: Scope) -> Definition | None:
        """Return a definition that may get a chunk of its own."""
        found = find_definition(node, self._grammar, self._data)
        if found is None or scope.kind not in {"function", "method"} or is_class_like(found.kind):
            return found
        # Closures of a few lines say little without the function around them.
        size = self._tokens.count(node.start_byte, node.end_byte)
        return found if size > scope.room // 4 else None

    def _is_split_for_definitions(self, node: Node, scope: Scope) -> bool:
        if scope.kind in {"function", "method"}:
            return False
        return self._is_block(node) and holds_definitions(node, self._grammar, self._data)

    def _process_definition(self, task: _Task, found: Definition) -> list[_Task]:
        scope = self._definition_scope(found, task.scope)
        for start in (*task.leads, task.start):
            if fits(self._tokens, start, task.end, scope.room):
                first = min((*task.leads, task.start))
                if start > first:
                    self._add_fitting(first, start, task.scope, task.depth)
                self._atoms.append(Atom(start, scope, task.depth, whole=True))
                return []
        start = min((*task.leads, task.start))
        return self._tasks(self._open(found), start, task.end, scope, task.depth + 1)

    def _add_fitting(self, start: int, end: int, scope: Scope, depth: int) -> None:
        if fits(self._tokens, start, end, scope.later_room):
            self._atoms.append(Atom(start, scope, depth))
        else:
            self.add_lines(start, end, scope, depth)

    def _open(self, found: Definition) -> list[_Part]:
        """Return the parts of a definition that does not fit: what heads it, then what its body holds."""
        parts: list[_Part] = []
        body = found.body
        level = [found.outer]
        while level:
            node = level.pop(0)
            if body is not None and node.id == body.id:
                parts.extend(self._flatten(node, node.start_byte))
            elif node.start_byte <= (found.inner.start_byte if body is None else body.start_byte) and (
                node.end_byte >= (found.inner.end_byte if body is None else body.end_byte)
            ):
                level[:0] = node.named_children
            else:
                parts.append(_Part(node.start_byte, node))
        return parts

    def _flatten(self, block: Node, start: int) -> list[_Part]:
        """Return a block's children, blocks with definitions opened, each with the place where it starts.

        The place of the first child of `else: …` is that of the `else`.
        """
        parts: list[_Part] = []
        stack = [_Part(start, block)]
        while stack:
            part = stack.pop()
            node = part.node
            is_open = node.id == block.id or self._is_open_block(node)
            children = node.named_children if is_open else []
            if not children:
                parts.append(part)
                continue
            is_pure = node.type in self._grammar.bodies or node.type in ERRORS or node.id == self._root_id
            stack.extend(
                _Part(
                    part.place if index == 0 else child.start_byte,
                    child,
                    not is_pure and not self._is_block(child),
                )
                for index, child in reversed(list(enumerate(children)))
            )
        return parts

    def _is_block(self, node: Node) -> bool:
        return node.type in self._grammar.blocks or node.type in ERRORS

    def _is_open_block(self, node: Node) -> bool:
        return (
            self._is_block(node)
            and find_definition(node, self._grammar, self._data) is None
            and holds_definitions(node, self._grammar, self._data)
        )

    def _tasks(
        self,
        parts: Iterable[_Part],
        start: int,
        end: int,
        scope: Scope,
        depth: int,
        inside_line: bool = False,
    ) -> list[_Task]:
        """Group nodes into tasks that start lines, comments with the definition below them."""
        groups: list[tuple[int, list[Node]]] = []
        headers: set[int] = set()
        for place, node, is_header in parts:
            if is_header:
                headers.add(node.id)
            at = self._line_start(place)
            if groups and (at is None or at <= groups[-1][0]):
                may_cut = place > groups[-1][0] and self._tokens.is_word_start(place)
                if not (may_cut and (inside_line or self._definition(node, scope) is not None)):
                    groups[-1][1].append(node)
                    continue
                at = place
            groups.append((start if not groups else place if at is None else at, [node]))
        if not groups:
            self.add_lines(start, end, scope, depth)
            return []
        groups[0] = (start, groups[0][1])
        tasks: list[_Task] = []
        leads: list[int] = []
        for index, (place, nodes) in enumerate(groups):
            limit = groups[index + 1][0] if index + 1 < len(groups) else end
            if index + 1 < len(groups) and self._leads(nodes, groups[index + 1][1], limit, scope, headers):
                leads.append(place)
                continue
            tasks.append(_Task(tuple(nodes), place, limit, scope, depth, tuple(leads)))
            leads = []
        return tasks

    def _leads(
        self, nodes: list[Node], following: list[Node], place: int, scope: Scope, headers: set[int]
    ) -> bool:
        """Whether nodes belong to the definition below them: comments without a gap, `if …:`, `namespace …`."""
        kinds = self._grammar.comments | self._grammar.attached
        is_header = nodes[0].id in headers
        if not is_header:
            if any(node.type not in kinds for node in nodes):
                return False
            if self._data[nodes[-1].end_byte : place].count(b"\n") > 1:
                return False
        if all(node.type in kinds or node.id in headers for node in following):
            return True
        return self._definition(following[0], scope) is not None

    def _line_start(self, place: int) -> int | None:
        """Return the start of the line of `place` if only white space stands before it there."""
        line_start = self._tokens.line_starts[self._tokens.line_of(place)]
        before = self._data[line_start:place]
        return line_start if not before or before.isspace() else None

    def _definition_scope(self, found: Definition, parent: Scope) -> Scope:
        name = found.name
        symbol = name if parent is self.module else f"{parent.symbol}.{name}"
        is_member = parent is not self.module and is_class_like(parent.kind)
        kind = "method" if found.kind == "function" and is_member else found.kind
        signature = " ".join(self._data[found.signature_start : found.signature_end].decode().split())
        return self._scope(symbol, kind, signature, found.signature_start, found.signature_end)

    def _scope(self, symbol: str, kind: str, signature: str | None, start: int, end: int) -> Scope:
        left = self._budget - HEADER_RESERVE
        symbol = self._shortened(symbol, left // 4, keep_end=True)
        fixed = self._counter.count(symbol)
        left -= fixed
        if signature is not None:
            signature = self._shortened(signature, left // 2, keep_end=False)
        count = self._counter.count(signature) if signature is not None else 0
        return Scope(symbol, kind, signature, count, start, end, HEADER_RESERVE + fixed, left)

    def _shortened(self, text: str, most: int, *, keep_end: bool) -> str:
        """Return `text`, or as much of one end of it as `most` tokens hold, with `…` for the rest."""
        if len(text) <= most or self._counter.count(text) <= most:
            return text
        low, high = 0, min(len(text), most * 8)
        while low + 1 < high:
            middle = (low + high) // 2
            part = "…" + text[-middle:] if keep_end else text[:middle] + "…"
            if self._counter.count(part) <= most:
                low = middle
            else:
                high = middle
        return "…" + text[len(text) - low :] if keep_end else text[:low].rstrip() + "…"

    def _describe(self, span: Span) -> Chunk:
        scope = span.scope
        is_continuation = not scope.holds_signature(span.start, span.end)
        count = scope.fixed_token_count + self._tokens.count(span.start, span.end)
        if is_continuation:
            count += scope.signature_token_count
        return Chunk(
            scope.symbol,
            scope.kind,
            scope.signature,
            scope.signature_token_count,
            is_continuation,
            count,
            self._tokens.line_of(span.start) + 1,
            self._tokens.line_of(span.end - 1) + 1,
            span.start,
            span.end,
        )
