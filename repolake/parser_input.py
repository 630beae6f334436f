"""Blank what a grammar cannot read, every other byte in its place, so that the tree fits the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from repolake.grammar import Grammar

LONG_RUN_LINES = 200
_LOOK_AHEAD = 200

# Words in capitals before the name of a class, and `namespace a MACRO {`: known to the preprocessor alone.
_MACRO = rb"[A-Z_][A-Z0-9_]{2,}\b(?:[ \t]*\([^()\n]*\))?\s+"
_CLASS_MACROS = re.compile(
    rb"(\b(?:enum[ \t]+class|enum|class|struct|union)\s+)((?:%b|\[\[[^][\n]*\]\]\s+)+)"
    rb"(?=[A-Za-z_][\w:]*\s*(?:<[^;{}]*>\s*)?(?:final\s*)?(?::(?!:)|\{))" % _MACRO
)
# `LIB_EXPORT template <…>`, and `void f() LOCKS(mutex) {`.
_TEMPLATE_MACROS = re.compile(rb"^([ \t]*)((?:%b){1,4})(?=template\b)" % _MACRO, re.MULTILINE)
_LATE_MACROS = re.compile(
    rb"(\)[ \t]*(?:(?:const|override|noexcept)\b[ \t]*)*(?:\n[ \t]+)?)((?:%b){1,4})(?=\{)" % _MACRO
)
_NAMESPACE_MACROS = re.compile(rb"(\bnamespace\s+[\w:]+\s+)((?:%b)+)(?=\{)" % _MACRO)
# On a line of its own between statements: `LIB_BEGIN_NAMESPACE`.
_LONE_MACRO = re.compile(rb"^[ \t]*%b(?://[^\n]*)?$" % _MACRO.replace(rb"\s+", rb"[ \t]*"), re.MULTILINE)
_STATEMENT_ENDINGS = (b";", b"{", b"}", b"*/", b":")
_DECLARATION_STARTS = tuple(b"# } / template namespace inline class struct typedef extern using".split())
# The head of a function at the start of a line, up to its name: two words or more.
_FUNCTION_HEAD = re.compile(
    rb"^([ \t]*(?:template[ \t]*<[^;{}()\n]*>\s+)?)"
    rb"((?:[A-Za-z_][\w:]*(?:<[^;{}()\n]*>)?[ \t\n*&]+){2,8})"
    rb"(?=~?[A-Za-z_][\w:~]*[ \t]*\()",
    re.MULTILINE,
)
# `char *name(a, b) char *a; int b; {`, as before 1989: the grammar knows it, but not with a pointer.
_OLD_PARAMETERS = re.compile(
    rb"(\*\s*[A-Za-z_]\w*[ \t]*\(\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*\s*\))"
    rb"((?:(?:\s|/\*[^*]*\*/)*[A-Za-z_][^;{}()\"'#]*;(?:[ \t]*/\*[^*]*\*/)?)+)(?=\s*\{)"
)
# Not behind a word or a bracket: there it is an index.
_BRACKETED_NAME = re.compile(rb"(?<![\w\])])\[([A-Za-z_][\w $-]*)\]")
# `cfg_rt! {` on a line of its own, and what stands inside if it holds items and no quoted code (`#name`).
_ITEM_MACRO = re.compile(rb"^([ \t]*)(?:\w+::)*\w+![ \t]*\{[ \t]*$", re.MULTILINE)
_ITEM = re.compile(
    rb"^[ \t]+(?:pub\b|(?:const |async |unsafe )*fn |struct |enum |trait |impl\b|mod \w)", re.MULTILINE
)
_QUOTED_NAME = re.compile(rb"#[A-Za-z_(]")
_WORD = re.compile(rb"[\w:]+")
_CAPITALS = re.compile(rb"[A-Z_][A-Z0-9_]{2,}")
_STORAGE = frozenset(
    b"static extern inline const volatile constexpr virtual friend explicit register".split()
)
_TAGS = frozenset(b"struct union enum class typename".split())
_STATEMENTS = frozenset(
    b"return else case goto new delete throw using typedef do if while for switch define operator".split()
)


def parser_input(grammar: Grammar, data: bytes) -> bytes:
    """Return a text as the parser of its language is to get it: of the same length, mostly `data` itself."""
    prepare = _PREPARATIONS.get(grammar.package)
    return prepare(data) if prepare is not None else data


def with_quoted_names(data: bytes) -> bytes:
    """Return SQL with the names that T-SQL writes as `[dbo].[carts]` in quotes, as the standard has them."""
    return _BRACKETED_NAME.sub(rb'"\1"', data) if b"[" in data else data


def without_long_comments(mark: str, data: bytes) -> bytes:
    """Return the text without long runs of comment lines, each of which starts with `mark`.

    tree-sitter-python takes time quadratic in such a run below an indented block: 40 s for 16,000 lines.
    """
    if data.count(mark.encode()) < LONG_RUN_LINES:
        return data
    # Beginning with line feeds, which are found fast: so one is put before the first line.
    line = rb"\n[ \t]*%b[^\n]*" % re.escape(mark.encode())
    run = re.compile(rb"%b(?:%b){%d,}(?=\n)" % (line, line, LONG_RUN_LINES - 1))
    return run.sub(lambda found: _blank(found[0]), b"\n" + data)[1:]


def without_macros(data: bytes) -> bytes:
    """Return C or C++ without macros that stand like keywords in heads, and old declarations of parameters.

    `class EXPORT Name : Base {` reads as a function `Base` to the grammar, and `static INLINE FAST void f(…)`
    as two declarations. A macro looks like a type, so that one stays where no other word can be the type.
    """
    data = _CLASS_MACROS.sub(lambda found: found[1] + _blank(found[2]), data)
    data = _OLD_PARAMETERS.sub(lambda found: found[1] + _blank(found[2]), data)
    for macros in (_NAMESPACE_MACROS, _TEMPLATE_MACROS, _LATE_MACROS):
        data = macros.sub(lambda found: found[1] + _blank(found[2]), data)
    data = _LONE_MACRO.sub(lambda found: _blank(found[0]) if _is_lone(found) else found[0], data)
    return _FUNCTION_HEAD.sub(lambda found: found[1] + _without_macro_words(found[2]), data)


def without_item_macros(data: bytes) -> bytes:
    """Return Rust without macros around whole items, `cfg_rt! { … }`: the grammar sees mere tokens there."""
    blanked = bytearray(data)
    closings: dict[bytes, int] = {}  # the brace last found at an indent; the looks go on from there
    barren = clean = 0  # up to where there are no items, and no quoted code
    for found in _ITEM_MACRO.finditer(data):
        indent, start = found[1], found.end()
        closing = closings.get(indent, 0)
        if 0 <= closing < start:
            closing = closings[indent] = data.find(b"\n" + indent + b"}", start)
        if closing <= barren:
            continue
        is_quoted = closing > clean and _QUOTED_NAME.search(data, start, closing) is not None
        if is_quoted or not _ITEM.search(data, start, closing):
            barren = closing
            continue
        clean = max(clean, closing)
        blanked[found.start() : start] = _blank(found[0])
        blanked[closing + 1 + len(indent)] = ord(b" ")
    return bytes(blanked)


def _is_lone(found: re.Match[bytes]) -> bool:
    """Whether a line of one macro stands between statements, and is none of their words."""
    data, start = found.string, found.start()
    before = data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : start].strip()
    after = data[found.end() + 1 : found.end() + 1 + _LOOK_AHEAD].split(b"\n", 1)[0].strip()
    is_ended = not before or before.endswith(_STATEMENT_ENDINGS) or before.startswith((b"#", b"//"))
    return is_ended and (not after or after.startswith(_DECLARATION_STARTS) or bool(_LONE_MACRO.match(after)))


def _without_macro_words(head: bytes) -> bytes:
    words = [(found.start(), found.end(), found[0]) for found in _WORD.finditer(head)]
    if any(word in _STATEMENTS for _, _, word in words):
        return head
    macros = [
        (start, end)
        for number, (start, end, word) in enumerate(words)
        if _CAPITALS.fullmatch(word) and (number == 0 or words[number - 1][2] not in _TAGS)
    ]
    if not any(word not in _STORAGE and not _CAPITALS.fullmatch(word) for _, _, word in words):
        del macros[:1]
    for start, end in macros:
        head = head[:start] + b" " * (end - start) + head[end:]
    return head


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", text)


# package of a grammar → what its parser is to get instead of a text
_PREPARATIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "tree_sitter_python": partial(without_long_comments, "#"),
    "tree_sitter_c": without_macros,
    "tree_sitter_cpp": without_macros,
    "tree_sitter_sql": with_quoted_names,
    "tree_sitter_rust": without_item_macros,
}
