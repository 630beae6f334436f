"""Pairs of files in languages whose docstrings are comments, read with tree-sitter."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import tree_sitter
from mine_python import (
    COMMENT_LINES_AFTER,
    COMMENT_LINES_BEFORE,
    MAX_CODE_CHARACTERS,
    MAX_QUERY_CHARACTERS,
    MIN_CODE_CHARACTERS,
    is_sentence,
    name_words,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# suffix → (language, grammar module, function of it)
LANGUAGES = {
    "js": ("javascript", "tree_sitter_javascript", "language"),
    "mjs": ("javascript", "tree_sitter_javascript", "language"),
    "cjs": ("javascript", "tree_sitter_javascript", "language"),
    "jsx": ("javascript", "tree_sitter_javascript", "language"),
    "ts": ("typescript", "tree_sitter_typescript", "language_typescript"),
    "mts": ("typescript", "tree_sitter_typescript", "language_typescript"),
    "tsx": ("typescript", "tree_sitter_typescript", "language_tsx"),
    "go": ("go", "tree_sitter_go", "language"),
    "java": ("java", "tree_sitter_java", "language"),
    "kt": ("kotlin", "tree_sitter_kotlin", "language"),
    "swift": ("swift", "tree_sitter_swift", "language"),
    "rs": ("rust", "tree_sitter_rust", "language"),
    "c": ("c", "tree_sitter_c", "language"),
    "h": ("cpp", "tree_sitter_cpp", "language"),
    "cc": ("cpp", "tree_sitter_cpp", "language"),
    "cpp": ("cpp", "tree_sitter_cpp", "language"),
    "cxx": ("cpp", "tree_sitter_cpp", "language"),
    "hpp": ("cpp", "tree_sitter_cpp", "language"),
}
COMMENTS = _words("comment line_comment block_comment multiline_comment doc_comment")
FUNCTIONS = _words(
    "function_declaration generator_function_declaration method_definition method_declaration "
    "constructor_declaration function_definition function_item init_declaration "
    "protocol_function_declaration"
)
CLASSES = _words(
    "class_declaration abstract_class_declaration interface_declaration enum_declaration "
    "type_declaration struct_item enum_item trait_item class_specifier struct_specifier "
    "object_declaration record_declaration protocol_declaration type_alias_declaration"
)
CONTAINERS = CLASSES | {"impl_item", "namespace_definition"}
ASSIGNED = frozenset({"lexical_declaration", "variable_declaration", "expression_statement"})
FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
WRAPPERS = frozenset({"export_statement", "template_declaration"})
BETWEEN = frozenset({"attribute_item", "decorator"})  # stand between a comment and what it is about


@cache
def _parser(module: str, function: str) -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(getattr(import_module(module), function)()))


def clean_comment(text: str) -> str:
    """Return the first paragraph of a comment as plain words, without comment marks, tags and markup."""
    lines = [re.sub(r"^\s*(/\*+[*!]?|//[/!]*|\*+/?|)\s?|\s*\*+/\s*$", "", line) for line in text.split("\n")]
    joined = "\n".join(line.strip() for line in lines).strip()
    paragraph = re.split(r"\n\s*\n|\n\s*[@\\]\w+|\n#+ |\n```|<p>|</p>", joined, maxsplit=1)[0]
    paragraph = re.sub(r"^[@\\](brief|description|desc|summary)\s+", "", paragraph)
    if paragraph.startswith(("@", "\\")):
        return ""
    paragraph = re.sub(r"\{@\w+\s+([^}|]*)(\|[^}]*)?\}", r"\1", paragraph)
    paragraph = re.sub(r"<[^>]{1,40}>|:\w+:(?=~?`)|~(?=\w)|`|\*\*", "", paragraph)
    paragraph = re.sub(r"\[([^\]]+)\](\([^)]*\))?", r"\1", paragraph)
    return " ".join(paragraph.split())[:MAX_QUERY_CHARACTERS]


def pairs(path: str, text: str, suffix: str) -> Iterator[dict[str, str]]:
    """Yield docstring, class, name and comment pairs of one file; `suffix` is a key of LANGUAGES."""
    language, module, function = LANGUAGES[suffix]
    source = text.encode()
    tree = _parser(module, function).parse(source)
    lines = text.split("\n")
    file = path.rsplit("/", 1)[-1]

    def words(node: tree_sitter.Node) -> str:
        return source[node.start_byte : node.end_byte].decode("utf-8", "ignore")

    def pair(kind: str, symbol: str, name: str, query: str, code: str) -> dict[str, str]:
        return {
            "kind": kind,
            "language": language,
            "file": file,
            "symbol": symbol,
            "name": name,
            "query": query,
            "code": code[:MAX_CODE_CHARACTERS],
        }

    # (node, symbol of the container, whether inside a function)
    stack: list[tuple[tree_sitter.Node, str, tuple[str, str] | None]] = [(tree.root_node, "", None)]
    while stack:
        node, parent, owner = stack.pop()
        children = node.named_children
        comment: list[tree_sitter.Node] = []
        for child in children:
            if child.type in COMMENTS:
                # a comment on the line after the last one continues it
                if comment and child.start_point.row > comment[-1].end_point.row + 1:
                    comment = []
                comment.append(child)
                continue
            if child.type in BETWEEN:
                continue
            inner = child
            while inner.type in WRAPPERS and inner.named_children:
                inner = inner.named_children[-1]
            name_node = _naming_node(inner)
            is_class = inner.type in CLASSES
            query = clean_comment("\n".join(map(words, comment))) if _touches(comment, child) else ""
            symbol, inside = parent, owner
            if name_node is not None and owner is None:
                name = (re.findall(r"[A-Za-z_$][\w$]*", words(name_node).split("<")[0]) or ["_"])[-1]
                symbol = f"{parent}.{name}" if parent else name
                code = words(child)
                if inner.type != "impl_item" and (about := _about(query, name, code, is_class=is_class)):
                    yield pair(about[0], symbol, name, about[1], code)
                if not is_class and inner.type != "impl_item":
                    inside = (symbol, name)
            elif (
                owner is not None and query and is_sentence(query, 4) and not re.search(r"[=;{}]|\)$", query)
            ):
                code = _around(lines, comment, node)
                if len(code) >= MIN_CODE_CHARACTERS:
                    yield pair("comment", *owner, query, code)
            comment = []
            if child.named_child_count:
                stack.append((inner, symbol if inner.type in CONTAINERS or inside else parent, inside))


def _about(query: str, name: str, code: str, *, is_class: bool) -> tuple[str, str] | None:
    """Return (kind, query) of a definition: its comment, else the words of a function's name, else None."""
    if len(code) < MIN_CODE_CHARACTERS:
        return None
    if query and is_sentence(query):
        return "class" if is_class else "docstring", query
    if not is_class and code.count("\n") > 2 and 2 <= len(split := name_words(name)) <= 8:
        return "name", " ".join(split)
    return None


def _touches(comment: list[tree_sitter.Node], node: tree_sitter.Node) -> bool:
    return bool(comment) and node.start_point.row - comment[-1].end_point.row <= 3


def _around(lines: list[str], comment: list[tree_sitter.Node], block: tree_sitter.Node) -> str:
    first, last = comment[0].start_point.row, comment[-1].end_point.row
    before = lines[max(block.start_point.row, first - COMMENT_LINES_BEFORE) : first]
    return "\n".join(before + lines[last + 1 : min(block.end_point.row + 1, last + 1 + COMMENT_LINES_AFTER)])


def _naming_node(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the node that holds the name of a function, a class or a Rust impl; None for anything else."""
    if node.type in CLASSES or node.type == "impl_item":
        return node.child_by_field_name("name") or node.child_by_field_name("type") or _first_name(node)
    if node.type in FUNCTIONS:
        found = (
            node.child_by_field_name("name") or node.child_by_field_name("declarator") or _first_name(node)
        )
        while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
            found = inner
        return found
    if node.type in ASSIGNED and node.named_children:
        target = node.named_children[0]
        value = target.child_by_field_name("value") or target.child_by_field_name("right")
        if value is not None and value.type in FUNCTION_VALUES:
            name = target.child_by_field_name("name") or target.child_by_field_name("left")
            return (name.child_by_field_name("property") or name) if name is not None else None
    if node.type == "pair":
        value = node.child_by_field_name("value")
        return (
            node.child_by_field_name("key") if value is not None and value.type in FUNCTION_VALUES else None
        )
    return None


def _first_name(node: tree_sitter.Node) -> tree_sitter.Node | None:
    names = ("identifier", "simple_identifier", "type_identifier", "field_identifier")
    return next((child for child in node.named_children if child.type in names), None)
