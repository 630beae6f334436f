"""What a syntax tree defines, refers to and imports, by name: the raw material of `symbol_references`.

A reference is kept if it may mean something of a repository: names of the language, and plain names that
the file neither defines nor imports, are left out (where files of a folder share names, all are kept). What
a name means is decided later, over all files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from repolake.definitions import Definition, find_definition, is_class_like
from repolake.grammar import Grammar
from repolake.imports import FileImport, read_imports
from repolake.reference_patterns import REFERENCE_PATTERNS, ReferencePatterns
from repolake.syntax import Node

PATH = re.compile(rb"[\w$]+(?:\.[\w$]+)*|super\(\)")
MAX_QUALIFIER = 60
UNKNOWN_RECEIVER = "…".encode()  # an expression that is no dotted path
OWN_RECEIVERS = frozenset({b"self", b"cls", b"super()", b"this", b"super"})
# By capture; where one place is captured twice, the first one counts.
KINDS = {"inherit": "inherit", "call": "call", "invocation": "call", "name": "name"}
DOT = ord(".")
NOTHING_KNOWN: Mapping[int, Definition] = {}


class FileDefinition(NamedTuple):
    """One definition with its dotted path; 1-based inclusive lines, bytes of the parsed text."""

    name: str
    symbol: str
    symbol_kind: str
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int


# One use of a name: kind, name, what stands before it, the definition around it or '', and the line.
# Files hold thousands: a plain tuple is made and sent at a fraction of the cost of a named one.
ReferenceRow = tuple[str, str, str | None, str, int]


class FileReferences(NamedTuple):
    """What one file defines, refers to and imports, each in file order; and the byte of each reference."""

    definitions: tuple[FileDefinition, ...] = ()
    references: tuple[ReferenceRow, ...] = ()
    imports: tuple[FileImport, ...] = ()
    reference_starts: tuple[int, ...] = ()


def reference_query(language: str) -> str:
    """Return the pattern whose captures `find_references` reads; empty for a language without references."""
    patterns = REFERENCE_PATTERNS.get(language)
    return patterns.query if patterns is not None else ""


def find_references(
    found: Mapping[str, list[Node]],
    data: bytes,
    grammar: Grammar,
    language: str,
    known: Mapping[int, Definition] = NOTHING_KNOWN,
) -> FileReferences:
    """Return the definitions, references and imports among the captures in the tree of `data`.

    Nothing for a language without patterns. `known` are definitions found before, by the id of their inner
    node.
    """
    patterns = REFERENCE_PATTERNS.get(language)
    if patterns is None:
        return FileReferences()
    definitions = tuple(_definitions(found.get("definition", []), grammar, known))
    imports = tuple(
        imported
        for node in sorted(found.get("import", []), key=lambda node: node.start_byte)
        for imported in read_imports(node, language)
    )
    starts, references = _references(found, patterns, definitions, imports, data)
    return FileReferences(definitions, tuple(references), imports, tuple(starts))


def _definitions(
    nodes: list[Node], grammar: Grammar, known: Mapping[int, Definition]
) -> Iterator[FileDefinition]:
    around: list[FileDefinition] = []
    for node in sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)):
        found = known.get(node.id) or find_definition(node, grammar)
        if found is None:
            continue
        while around and around[-1].end_byte <= node.start_byte:
            around.pop()
        parent = around[-1] if around else None
        kind = found.kind
        if kind == "function" and parent is not None and is_class_like(parent.symbol_kind):
            kind = "method"
        entry = FileDefinition(
            name=found.name.rpartition(".")[2],
            symbol=f"{parent.symbol}.{found.name}" if parent is not None else found.name,
            symbol_kind=kind,
            start_line=node.start_point[0] + 1,
            end_line=node.end_point[0] + 1,
            start_byte=node.start_byte,
            end_byte=node.end_byte,
        )
        around.append(entry)
        yield entry


def _references(
    found: Mapping[str, list[Node]],
    patterns: ReferencePatterns,
    definitions: tuple[FileDefinition, ...],
    imports: tuple[FileImport, ...],
    data: bytes,
) -> tuple[list[int], list[ReferenceRow]]:
    """Return the first byte of each reference, and the references, in file order.

    Files hold thousands of names, so nodes are asked for little: type and parent cost more than a look at
    the text.
    """
    local = {definition.name.encode() for definition in definitions}
    local.update(imported.local_name.encode() for imported in imports if imported.local_name)
    local.update([name.partition(b".")[0] for name in local])
    is_open = patterns.has_packages or any(imported.name == "*" for imported in imports)
    ignored, common = patterns.ignored, patterns.common_members
    qualifiers: dict[bytes, bytes] = {}
    kept: dict[int, tuple[int, int, str, bytes, bytes | None]] = {}
    for capture, kind in KINDS.items():
        for node in found.get(capture, ()):
            start, end = node.start_byte, node.end_byte
            if capture == "invocation":
                name_start, before, end = _invoked(node)
            else:
                before = data.rfind(b".", start, end)
                name_start = before + 1
            if name_start <= start:
                name = data[start:end]
                # Types and functions handed on begin with a capital; other arguments are mostly locals.
                if name not in local and (
                    not is_open
                    or name in ignored
                    or (kind == "name" and name[:1].islower() and node.type == "identifier")
                ):
                    continue
                if start and data[start - 1] == DOT:
                    continue  # the whole of `qualifier.name` is captured as well
                if start not in kept:
                    kept[start] = (start, end, kind, name, None)
                continue
            if name_start in kept:
                continue
            name = data[name_start:end]
            text = data[start:before] if before - start <= MAX_QUALIFIER else b""
            qualifier = qualifiers.get(text)
            if qualifier is None:
                qualifier = qualifiers[text] = _qualifier(text)
            if (
                (kind == "name" or name in common)
                and qualifier.partition(b".")[0] not in local
                and (kind == "name" or qualifier not in OWN_RECEIVERS)
            ):
                continue
            kept[name_start] = (name_start, end, kind, name, qualifier)
    return _placed(sorted(kept.values()), definitions, data)


def _placed(
    kept: list[tuple[int, int, str, bytes, bytes | None]],
    definitions: tuple[FileDefinition, ...],
    data: bytes,
) -> tuple[list[int], list[ReferenceRow]]:
    """Find the line of references and the definition around them; names of definitions are none."""
    heads = {(definition.start_line, definition.name.encode()) for definition in definitions}
    texts = _Texts()
    around: list[FileDefinition] = []
    following = 0
    line, counted = 1, 0
    starts: list[int] = []
    rows: list[ReferenceRow] = []
    for start, end, kind, name, qualifier in kept:
        line += data.count(b"\n", counted, end)
        counted = end
        if kind == "name" and (line, name) in heads:
            continue
        while following < len(definitions) and definitions[following].start_byte <= start:
            around.append(definitions[following])
            following += 1
        while around and around[-1].end_byte <= start:
            around.pop()
        symbol = around[-1].symbol if around else ""
        before = None if qualifier is None else texts[qualifier]
        starts.append(start)
        rows.append((kind, texts[name], before, symbol, line))
    return starts, rows


class _Texts(dict[bytes, str]):
    """One string for each text: rows are pickled, and a string seen before costs a few bytes."""

    def __missing__(self, text: bytes) -> str:
        self[text] = decoded = text.decode("utf-8", "replace")
        return decoded


def _invoked(node: Node) -> tuple[int, int, int]:
    """Return the start of the name that Java calls, the end of what stands before it, the end of the name."""
    name, before = node.child_by_field_name("name"), node.child_by_field_name("object")
    if name is None:
        return node.start_byte, node.start_byte, node.start_byte
    if before is None:
        return node.start_byte, node.start_byte, name.end_byte
    return name.start_byte, before.end_byte, name.end_byte


def _qualifier(text: bytes) -> bytes:
    text = text.strip(b"? \n")
    return text if PATH.fullmatch(text) else UNKNOWN_RECEIVER
