"""Cut one text into chunks that fit a budget, each knowing its definition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from repolake.atoms import AtomList
from repolake.grammar import Grammar
from repolake.grammars import GRAMMARS
from repolake.headings import HEADED_LANGUAGES, find_headings
from repolake.packing import Span, pack
from repolake.parser_input import parser_input
from repolake.records import Chunker
from repolake.references import FileReferences, find_references, reference_query
from repolake.scopes import HEADER_RESERVE, ScopeMaker
from repolake.section_atoms import add_sections
from repolake.syntax import captures, error_bytes, missing_package, parse
from repolake.syntax_atoms import SyntaxAtoms
from repolake.tokens import TextTokens, TokenCounter
from repolake.windows import fixed_windows

SMALLEST_BUDGET = 64
MOST_ATTEMPTS = 8
NO_REFERENCES = FileReferences()
MOST_ERRORS = 0.5  # share of a file under syntax errors from which its tree says too little


class Chunk(NamedTuple):
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
    references: FileReferences = NO_REFERENCES


def split(
    text: str, language: str, budget: int, counter: TokenCounter, chunker: Chunker = Chunker.AST
) -> FileChunks:
    """Return the chunks of `text`; each takes at most `budget` tokens as embedded, header included.

    They are ordered and disjoint (the fixed windows' overlap aside), and every line that is not blank lies
    in at least one. Text of a chunk = `text.encode()[start_byte:end_byte]`.
    """
    found = _split(text, language, budget, counter, chunker)
    if counter.is_additive:
        return found
    # Other tokenizers may count a text differently from its lines: count what came out, and leave more room.
    left = budget
    for _ in range(MOST_ATTEMPTS):
        chunks = _counted(found.chunks, text.encode(), counter)
        found = replace(found, chunks=chunks)
        excess = max((chunk.token_count for chunk in chunks), default=0) - budget
        if excess <= 0 or left <= SMALLEST_BUDGET:
            break
        left = max(left - excess, SMALLEST_BUDGET)
        found = _split(text, language, left, counter, chunker)
    return found


def _counted(chunks: tuple[Chunk, ...], data: bytes, counter: TokenCounter) -> tuple[Chunk, ...]:
    """Return the chunks with the tokens of their embedded texts as the tokenizer counts them as a whole."""
    counted = []
    for chunk in chunks:
        signature = f"{chunk.signature}\n" if chunk.is_continuation else ""
        own = data[chunk.start_byte : chunk.end_byte].decode()
        token_count = HEADER_RESERVE + counter.count(f"{chunk.symbol}\n{signature}{own}")
        counted.append(chunk._replace(token_count=token_count))
    return tuple(counted)


def _split(text: str, language: str, budget: int, counter: TokenCounter, chunker: Chunker) -> FileChunks:
    data = text.encode()
    tokens = TextTokens(counter, text, data)
    scopes = ScopeMaker(counter, budget, data)
    atoms = AtomList(tokens)
    grammar = GRAMMARS.get(language)
    if chunker is Chunker.FIXED:
        atoms.add_lines(0, len(data), scopes.module, 0)
        return FileChunks(_describe(fixed_windows(tokens, atoms.atoms, scopes.module), tokens))
    if language in HEADED_LANGUAGES:
        add_sections(find_headings(language, data), tokens, scopes, atoms)
        return FileChunks(_describe(pack(tokens, atoms.atoms), tokens))
    parsed = parser_input(grammar, data) if grammar is not None else data
    root = parse(grammar, parsed) if grammar is not None else None
    if grammar is None or root is None:
        atoms.add_lines(0, len(data), scopes.module, 0)
        return FileChunks(_describe(pack(tokens, atoms.atoms), tokens), note=_note(grammar, language))
    if root.has_error and error_bytes(root) > MOST_ERRORS * len(data):
        atoms.add_lines(0, len(data), scopes.module, 0)
        return FileChunks(_describe(pack(tokens, atoms.atoms), tokens), has_syntax_error=True)
    captured = captures(grammar, reference_query(language), root)
    syntax_atoms = SyntaxAtoms(grammar, parsed, tokens, scopes, atoms)
    syntax_atoms.add(root, captured)
    return FileChunks(
        _describe(pack(tokens, atoms.atoms), tokens),
        root.has_error,
        references=find_references(captured, parsed, grammar, language, syntax_atoms.definitions),
    )


def _note(grammar: Grammar | None, language: str) -> str | None:
    package = missing_package(grammar) if grammar is not None else None
    return f"{package} is not installed or does not fit: {language} is cut by lines" if package else None


def _describe(spans: list[Span], tokens: TextTokens) -> tuple[Chunk, ...]:
    chunks = []
    for start, end, scope in ((span.start, span.end, span.scope) for span in spans):
        is_continuation = not scope.holds_signature(start, end)
        count = scope.header_token_count + tokens.count(start, end)
        if is_continuation:
            count += scope.signature_token_count
        chunks.append(
            Chunk(
                scope.symbol,
                scope.kind,
                scope.signature,
                scope.signature_token_count,
                is_continuation,
                count,
                tokens.line_of(start) + 1,
                tokens.line_of(end - 1) + 1,
                start,
                end,
            )
        )
    return tuple(chunks)
