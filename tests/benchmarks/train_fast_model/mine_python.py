"""Pairs of Python files, read with the standard library's ast."""

import ast
import re
from collections.abc import Callable, Iterator

MAX_QUERY_CHARACTERS = 300
MAX_CODE_CHARACTERS = 2_000
MIN_CODE_CHARACTERS = 40
COMMENT_LINES_BEFORE, COMMENT_LINES_AFTER = 4, 12
HEAD_LINES = 50

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def first_paragraph(docstring: str) -> str:
    """Return the first paragraph of a docstring as plain words, without markup of Sphinx, numpy or epydoc."""
    text = docstring.strip().split("\n\n", 1)[0]
    text = re.split(
        r"\n\s*(?:[:@]\w+|Args:|Arguments:|Parameters|Returns|Raises|>>>|\.\. )", text, maxsplit=1
    )[0]
    text = re.sub(r":[\w:.-]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`", r"\1", text)
    return " ".join(text.replace("`", "").split())[:MAX_QUERY_CHARACTERS]


def is_sentence(text: str, min_words: int = 3) -> bool:
    """Say whether a text reads like a request: enough words, mostly ASCII letters, no commented-out code."""
    words = re.findall(r"[A-Za-z]{2,}", text)
    letters = sum(character.isascii() and (character.isalpha() or character == " ") for character in text)
    return (
        len(words) >= min_words
        and letters / len(text) > 0.75
        and not re.match(
            r"(see |todo|fixme|xxx|hack|noqa|type:|pylint|copyright|license|flake8|pragma)", text.lower()
        )
    )


def name_words(name: str) -> list[str]:
    """Split an identifier at underscores, case and digits: `parseHTTPHeader_v2` → parse http header v 2."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def pairs(path: str, text: str) -> Iterator[dict[str, str]]:
    """Yield docstring, class, name, comment and module pairs of one file; none if it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.split("\n")
    file = path.rsplit("/", 1)[-1]

    def pair(kind: str, symbol: str, name: str, query: str, code: str) -> dict[str, str]:
        return {
            "kind": kind,
            "language": "python",
            "file": file,
            "symbol": symbol,
            "name": name,
            "query": query,
            "code": code,
        }

    docstring = ast.get_docstring(tree)
    if docstring:
        query, code = first_paragraph(docstring), _module_head(tree, lines)
        if is_sentence(query) and len(code) >= MIN_CODE_CHARACTERS:
            yield pair("module", "", "", query, code)
    stack: list[tuple[Definition, str]] = [(node, "") for node in tree.body if isinstance(node, Definition)]
    stack.reverse()
    spans: list[tuple[int, int, str, str]] = []
    while stack:
        node, parent = stack.pop()
        symbol = f"{parent}.{node.name}" if parent else node.name
        stack.extend((child, symbol) for child in reversed(node.body) if isinstance(child, Definition))
        code, docstring = _without_docstring(node, lines)
        is_class = isinstance(node, ast.ClassDef)
        spans.append((node.lineno, node.end_lineno or node.lineno, symbol, node.name))
        if len(code) < MIN_CODE_CHARACTERS:
            continue
        if docstring and is_sentence(query := first_paragraph(docstring)):
            yield pair("class" if is_class else "docstring", symbol, node.name, query, code)
        elif not is_class and len(node.body) > 1 and not node.name.startswith("__"):
            words = name_words(node.name)
            if 2 <= len(words) <= 8:
                yield pair("name", symbol, node.name, " ".join(words), code)
    yield from _comments(lines, spans, pair)


def _without_docstring(node: Definition, lines: list[str]) -> tuple[str, str]:
    start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    end = node.end_lineno or node.lineno
    docstring = ast.get_docstring(node) or ""
    if docstring:
        first = node.body[0]
        kept = lines[start : first.lineno - 1] + lines[first.end_lineno or first.lineno : end]
    else:
        kept = lines[start:end]
    return "\n".join(kept)[:MAX_CODE_CHARACTERS], docstring


def _module_head(tree: ast.Module, lines: list[str]) -> str:
    start = tree.body[0].end_lineno or 1
    kept = lines[start : start + HEAD_LINES]
    outline = [
        lines[node.lineno - 1]
        for node in tree.body
        if isinstance(node, Definition) and node.lineno > start + HEAD_LINES
    ]
    return "\n".join(kept + outline).strip()[:MAX_CODE_CHARACTERS]


def _comments(
    lines: list[str], spans: list[tuple[int, int, str, str]], pair: Callable[..., dict[str, str]]
) -> Iterator[dict[str, str]]:
    """Yield one pair for each block of own-line comments inside a definition."""
    index = 0
    innermost = sorted(spans, key=lambda span: span[0])
    while index < len(lines):
        if not lines[index].lstrip().startswith("#"):
            index += 1
            continue
        first = index
        while index < len(lines) and lines[index].lstrip().startswith("#"):
            index += 1
        query = " ".join(" ".join(line.strip().lstrip("#").strip() for line in lines[first:index]).split())
        query = query[:MAX_QUERY_CHARACTERS]
        owner = None
        for span in innermost:
            if span[0] > first + 1:
                break
            if span[1] >= index:
                owner = span
        if owner is None or not query or not is_sentence(query, 4) or re.search(r"[=;{}]|\)$", query):
            continue
        start = max(owner[0] - 1, first - COMMENT_LINES_BEFORE)
        code = "\n".join(lines[start:first] + lines[index : min(owner[1], index + COMMENT_LINES_AFTER)])
        if len(code) >= MIN_CODE_CHARACTERS:
            yield pair("comment", owner[2], owner[3], query, code[:MAX_CODE_CHARACTERS])
