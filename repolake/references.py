"""What a syntax tree defines, refers to and imports, by name: the raw material of `symbol_references`.

A reference is kept if it may mean something of a repository: names of the language, and plain names that
the file neither defines nor imports, are left out (where files of a folder share names, all are kept). What
a name means is decided later, over all files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from repolake.definitions import find_definition, is_class_like
from repolake.grammar import Grammar
from repolake.imports import FileImport, read_imports
from repolake.reference_patterns import REFERENCE_PATTERNS, ReferencePatterns
from repolake.syntax import Node, captures

PATH = re.compile(rb"[\w$]+(?:\.[\w$]+)*|super\(\)")
MAX_QUALIFIER = 60
UNKNOWN_RECEIVER = "…".encode()  # an expression that is no dotted path
OWN_RECEIVERS = frozenset({b"self", b"cls", b"super()", b"this", b"super"})
KINDS = ("inherit", "call", "name")  # where one place is captured twice, the first one counts


class FileDefinition(NamedTuple):
    """One definition with its dotted path; 1-based inclusive lines, bytes of the parsed text."""

    name: str
    symbol: str
    symbol_kind: str
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int


class FileReference(NamedTuple):
    """One use of a name. `qualifier` is what stands before it, `symbol` the definition around it or ''."""

    kind: str
    name: str
    qualifier: str | None
    symbol: str
    line: int
    start_byte: int


class FileReferences(NamedTuple):
    """What one file defines, refers to and imports, each in file order."""

    definitions: tuple[FileDefinition, ...] = ()
    references: tuple[FileReference, ...] = ()
    imports: tuple[FileImport, ...] = ()


def find_references(root: Node, data: bytes, grammar: Grammar, language: str) -> FileReferences:
    """Return the definitions, references and imports of the tree of `data`.

    Nothing for a language without patterns.
    """
    patterns = REFERENCE_PATTERNS.get(language)
    if patterns is None:
        return FileReferences()
    found = captures(grammar, patterns.query, root)
    definitions = tuple(_definitions(found.get("definition", []), grammar))
    imports = tuple(
        imported
        for node in sorted(found.get("import", []), key=lambda node: node.start_byte)
        for imported in read_imports(node, language)
    )
    references = tuple(_references(found, patterns, definitions, imports, data))
    return FileReferences(definitions, references, imports)


def _definitions(nodes: list[Node], grammar: Grammar) -> Iterator[FileDefinition]:
    around: list[FileDefinition] = []
    for node in sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte)):
        found = find_definition(node, grammar)
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
    found: dict[str, list[Node]],
    patterns: ReferencePatterns,
    definitions: tuple[FileDefinition, ...],
    imports: tuple[FileImport, ...],
    data: bytes,
) -> Iterator[FileReference]:
    local = {definition.name.encode() for definition in definitions}
    local.update(imported.local_name.encode() for imported in imports if imported.local_name)
    local.update(name.partition(b".")[0] for name in tuple(local))
    is_open = patterns.has_packages or any(imported.name == "*" for imported in imports)
    heads = {(definition.start_line, definition.name.encode()) for definition in definitions}
    common = {name.encode() for name in patterns.common_members}
    seen: set[int] = set()
    kept: list[tuple[int, int, str, bytes, bytes | None]] = []
    for kind in KINDS:
        for node in found.get(kind, ()):
            qualifier, start, end = _place(node, patterns, data)
            name = data[start:end]
            if qualifier is None:
                if data[start - 1 : start] == b"." and start:
                    continue  # the whole of `qualifier.name` is captured as well
                if name not in local and not (is_open and _may_be_elsewhere(name, kind, node, patterns)):
                    continue
            elif qualifier.partition(b".")[0] not in local and (
                kind == "name" or (name in common and qualifier not in OWN_RECEIVERS)
            ):
                continue
            line = node.end_point[0] + 1
            if start in seen or (kind == "name" and (line, name) in heads):
                continue
            seen.add(start)
            kept.append((start, line, kind, name, qualifier))
    kept.sort()
    around: list[FileDefinition] = []
    following = 0
    for start, line, kind, name, qualifier in kept:
        while following < len(definitions) and definitions[following].start_byte <= start:
            around.append(definitions[following])
            following += 1
        while around and around[-1].end_byte <= start:
            around.pop()
        yield FileReference(
            kind,
            name.decode("utf-8", "replace"),
            None if qualifier is None else qualifier.decode("utf-8", "replace"),
            around[-1].symbol if around else "",
            line,
            start,
        )


def _may_be_elsewhere(name: bytes, kind: str, node: Node, patterns: ReferencePatterns) -> bool:
    """Whether a plain name that the file does not know may come from a file that it need not name."""
    if name.decode("utf-8", "replace") in patterns.ignored:
        return False
    # Types and functions handed on begin with a capital; other arguments are mostly locals.
    return kind != "name" or node.type != "identifier" or not name[:1].islower()


def _place(node: Node, patterns: ReferencePatterns, data: bytes) -> tuple[bytes | None, int, int]:
    """Return the qualifier of what an expression names, null without one, and the bytes of the name."""
    start, end = node.start_byte, node.end_byte
    if node.type == "method_invocation":
        name, before = node.child_by_field_name("name"), node.child_by_field_name("object")
        if name is None or before is None:
            return None, start, name.end_byte if name is not None else start
        return _qualifier(data, before.start_byte, before.end_byte), name.start_byte, name.end_byte
    if node.type not in patterns.members:
        return None, start, end
    dot = data.rfind(b".", start, end)
    return (_qualifier(data, start, dot), dot + 1, end) if dot >= 0 else (None, start, end)


def _qualifier(data: bytes, start: int, end: int) -> bytes:
    text = data[start:end].strip(b"? \n") if end - start <= MAX_QUALIFIER else b""
    return text if PATH.fullmatch(text) else UNKNOWN_RECEIVER
