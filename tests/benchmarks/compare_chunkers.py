"""Our chunks beside fixed windows, astchunk and LlamaIndex's CodeSplitter, on the same Python files.

    pip install astchunk llama-index-core tree-sitter-language-pack
    python tests/benchmarks/compare_chunkers.py FOLDER [--every 18]

All have one budget, the 256 tokens that the model reads. The peers measure in characters, so theirs is what
that many tokens hold on average in these files: white space left out for astchunk, which does not count it.
Functions are those that Python's own `ast` sees. `headless`: chunks that begin inside a function and do not
name it, neither in their text nor in the signature that the model is given. `whole`: functions that lie
within what is read of one chunk. `lost`: tokens beyond the first 256 of a chunk.
"""

from __future__ import annotations

import argparse
import ast
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chunk_samples import counter, cut

from repolake.records import Chunker

READ_TOKENS = 256
SPECIAL_TOKENS = 2
Piece = tuple[int, int, str, int]  # first line, last line, the signature in front, tokens


def ours(text: str, chunker: Chunker = Chunker.AST) -> Iterator[Piece]:
    for chunk, _ in cut(text, "python", READ_TOKENS, chunker):
        signature = chunk.signature if chunk.is_continuation else ""
        yield chunk.start_line, chunk.end_line, signature or "", chunk.token_count


def fixed(text: str) -> Iterator[Piece]:
    return ours(text, Chunker.FIXED)


def astchunk(text: str, most_characters: int) -> Iterator[Piece]:
    from astchunk import ASTChunkBuilder

    builder = ASTChunkBuilder(max_chunk_size=most_characters, language="python", metadata_template="default")
    for chunk in builder.chunkify(text):
        lines = chunk["metadata"]
        yield (
            lines["start_line_no"] + 1,
            lines["end_line_no"] + 1,
            "",
            counter().count(chunk["content"]) + SPECIAL_TOKENS,
        )


def code_splitter(text: str, most_characters: int) -> Iterator[Piece]:
    from llama_index.core.node_parser import CodeSplitter
    from tree_sitter import Language, Parser
    from tree_sitter_python import language

    place = 0
    splitter = CodeSplitter("python", max_chars=most_characters, parser=Parser(Language(language())))
    for chunk in splitter.split_text(text):
        place = max(text.find(chunk, place), place)
        first = text.count("\n", 0, place) + 1
        yield first, first + chunk.count("\n"), "", counter().count(chunk) + SPECIAL_TOKENS


def functions(text: str) -> list[tuple[int, int, int, str]]:
    """Return first line, line of the name, last line and name of every function."""
    found = []
    for item in ast.walk(ast.parse(text)):
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([item.lineno, *(decorator.lineno for decorator in item.decorator_list)])
            found.append((first, item.lineno, item.end_lineno or item.lineno, item.name))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=18)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    texts = []
    paths = [path for path in options.folder.rglob("*.py") if "site-packages" not in path.parts]
    for path in sorted(paths)[:: options.every]:
        try:
            text = path.read_text(encoding="utf-8")
            ast.parse(text)
        except (UnicodeDecodeError, SyntaxError, ValueError):
            continue
        texts.append(text)
    token_count = sum(counter().count(text) for text in texts)
    room = READ_TOKENS - SPECIAL_TOKENS
    with_spaces = room * sum(map(len, texts)) // token_count
    without_spaces = room * sum(len("".join(text.split())) for text in texts) // token_count
    print(f"{len(texts)} files; {with_spaces} characters, {without_spaces} of them no white space, a chunk")
    chunkers: dict[str, Callable[[str], Iterator[Piece]]] = {
        "repolake": ours,
        "fixed": fixed,
        "astchunk": lambda text: astchunk(text, without_spaces),
        "CodeSplitter": lambda text: code_splitter(text, with_spaces),
    }
    for name, chunker in chunkers.items():
        count = headless = whole = total = lost = tokens = 0
        for text in texts:
            pieces = list(chunker(text))
            defined = functions(text)
            count += len(pieces)
            for first, _, signature, size in pieces:
                around = [item for item in defined if item[1] < first <= item[2]]
                inner = max(around, default=None)
                headless += inner is not None and f"def {inner[3]}" not in signature
                tokens += size
                lost += max(size - READ_TOKENS, 0)
            total += len(defined)
            whole += sum(
                any(first <= start and end <= last and size <= READ_TOKENS for first, last, _, size in pieces)
                for start, _, end, _ in defined
            )
        print(
            f"{name}: {count / len(texts):.1f} chunks a file, {tokens / count:.0f} tokens each;"
            f" headless {headless / count:.1%}; whole {whole / total:.1%}; lost {lost / tokens:.1%}"
        )


if __name__ == "__main__":
    main()
