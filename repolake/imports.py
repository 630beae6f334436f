"""What an import statement of a syntax tree brings in: module, name, and the name that it gets here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from repolake.syntax import Node


class FileImport(NamedTuple):
    """One imported name. `name` is null for a whole module and `*` for all that it holds.

    `module` is as written (`.models`, `./api`, `net/http`, `java.util`); `local_name` is what the file calls
    it, null if it gives it no name.
    """

    module: str
    name: str | None
    local_name: str | None
    line: int
    start_byte: int


def read_imports(node: Node, language: str) -> Iterator[FileImport]:
    """Yield what one import of a language brings in; nothing if it is none after all."""
    for module, name, local_name in READERS[language](node):
        if module:
            yield FileImport(module, name, local_name, node.start_point[0] + 1, node.start_byte)


Names = Iterator[tuple[str, str | None, str | None]]


def _python(node: Node) -> Names:
    names = node.children_by_field_name("name")
    if node.type == "import_statement":
        for name in names:
            alias = name.child_by_field_name("alias")
            path = _text(name.child_by_field_name("name") if alias is not None else name)
            # `import a.b` binds `a`, and `a.b.c()` names the module by its path
            yield path, None, _text(alias) if alias is not None else path
        return
    module = _text(node.child_by_field_name("module_name")).replace(" ", "")
    for name in names:
        alias = name.child_by_field_name("alias")
        own = _text(name.child_by_field_name("name") if alias is not None else name)
        yield module, own, _text(alias) if alias is not None else own
    if any(child.type == "wildcard_import" for child in node.named_children):
        yield module, "*", None


def _script(node: Node) -> Names:
    if node.type == "variable_declarator":
        yield from _required(node)
        return
    module = _string(node.child_by_field_name("source"))
    stack = list(node.named_children)
    is_bare = True
    while stack:
        child = stack.pop(0)
        if child.type in {"import_clause", "named_imports", "export_clause"}:
            stack = [*child.named_children, *stack]
        elif child.type in {"import_specifier", "export_specifier"}:
            is_bare = False
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            local_name = None if child.type == "export_specifier" else _text(alias or name)
            yield module, _text(name), local_name
        elif child.type == "namespace_import":
            is_bare = False
            yield module, None, _text(child.named_children[-1])
        elif child.type == "identifier":
            is_bare = False
            yield module, "default", _text(child)
    if is_bare:
        yield module, "*" if node.type == "export_statement" else None, None


def _required(node: Node) -> Names:
    call = node.child_by_field_name("value")
    function = call.child_by_field_name("function") if call is not None else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    target = node.child_by_field_name("name")
    if _text(function) != "require" or arguments is None or target is None:
        return
    module = _string(arguments.named_children[0])
    if target.type == "identifier":
        yield module, None, _text(target)
    for child in target.named_children if target.type == "object_pattern" else ():
        if child.type == "shorthand_property_identifier_pattern":
            yield module, _text(child), _text(child)
        elif child.type == "pair_pattern":
            yield module, _text(child.child_by_field_name("key")), _text(child.child_by_field_name("value"))


def _go(node: Node) -> Names:
    module = _text(node.child_by_field_name("path")).strip('"`')
    name = node.child_by_field_name("name")
    if name is None:
        last = [part for part in module.split("/") if not _is_major_version(part)]
        yield module, None, last[-1] if last else module
    elif name.type == "dot":
        yield module, "*", None
    else:
        yield module, None, None if name.type == "blank_identifier" else _text(name)


def _is_major_version(part: str) -> bool:
    return len(part) > 1 and part[0] == "v" and part[1:].isdecimal()


def _java(node: Node) -> Names:
    path = next((_text(child) for child in node.named_children if "identifier" in child.type), "")
    if any(child.type == "asterisk" for child in node.named_children):
        yield path, "*", None
        return
    module, _, name = path.rpartition(".")
    yield module, name, name


def _string(node: Node | None) -> str:
    return _text(node).strip("\"'`")


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


READERS: Mapping[str, Callable[[Node], Names]] = {
    "python": _python,
    "javascript": _script,
    "typescript": _script,
    "tsx": _script,
    "go": _go,
    "java": _java,
}
