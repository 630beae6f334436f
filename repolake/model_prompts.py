"""Data: the prompts that well-known models expect but do not declare in their own files."""

from __future__ import annotations

import re
from typing import NamedTuple


class Prompts(NamedTuple):
    """What is put before a query and before an indexed text; empty: nothing."""

    query: str
    document: str


NO_PROMPTS = Prompts("", "")

_SEARCH_TASK = "Given a code search query, retrieve relevant code that answers the query"

# The first pattern that matches the last part of a model's name, in lower case, applies. Source: each
# model's card. A model that declares prompts of its own is not looked up here.
PROMPTS_BY_NAME: tuple[tuple[str, Prompts], ...] = (
    (r"e5-mistral-.*|.*e5-.*-instruct", Prompts(f"Instruct: {_SEARCH_TASK}\nQuery: ", "")),
    (r"(multilingual-)?e5-.*", Prompts("query: ", "passage: ")),
    (
        r"bge-(small|base|large)-en(-.*)?",
        Prompts("Represent this sentence for searching relevant passages: ", ""),
    ),
    (r"bge-(small|base|large)-zh(-.*)?", Prompts("为这个句子生成表示以用于检索相关文章：", "")),  # noqa: RUF001  # as published
    (r"bge-code-.*", Prompts(f"<instruct>{_SEARCH_TASK}\n<query>", "")),
    (r"nomic-embed-text-.*|modernbert-embed-.*", Prompts("search_query: ", "search_document: ")),
    (
        r"nomic-embed-code.*|coderankembed.*",
        Prompts("Represent this query for searching relevant code: ", ""),
    ),
    (r"mxbai-embed-large-.*", Prompts("Represent this sentence for searching relevant passages: ", "")),
    (
        r"snowflake-arctic-embed-(xs|s|m|l)",
        Prompts("Represent this sentence for searching relevant passages: ", ""),
    ),
    (r"snowflake-arctic-embed-.*", Prompts("query: ", "")),
    (r"qwen3-embedding-.*|gte-qwen2-.*", Prompts(f"Instruct: {_SEARCH_TASK}\nQuery:", "")),
    (
        r"instructor-.*",
        Prompts(
            "Represent the question for retrieving supporting documents: ",
            "Represent the document for retrieval: ",
        ),
    ),
)


def prompts_by_convention(name: str) -> Prompts:
    """Return the prompts that a model of this name or path expects by its card, else none."""
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1].lower()
    for pattern, prompts in PROMPTS_BY_NAME:
        if re.fullmatch(pattern, last):
            return prompts
    return NO_PROMPTS
