"""Evaluations with given values, for tests of what is done with them."""

from datetime import UTC, datetime

from repolake.evaluations import Evaluation, QueryResult, Variant, VariantResult
from repolake.records import Chunker, Header, SearchMode

HYBRID = Variant(SearchMode.HYBRID, Chunker.AST, "minilm", 256)
TEXT = Variant(SearchMode.TEXT, Chunker.AST, "minilm", 256, "source", Header.FOLDERS)


def result(variant: Variant, values: list[float]) -> VariantResult:
    queries = tuple(
        QueryResult(f"q{i}", "behaviour" if i % 2 else None, "python", i == 0, {"ndcg@10": value}, 0.001 * i)
        for i, value in enumerate(values)
    )
    return VariantResult(variant, "minilm-1a2b", "f00d", None, queries)


def evaluation(name: str, *results: VariantResult) -> Evaluation:
    return Evaluation(name, datetime(2026, 1, 2, tzinfo=UTC), "q.jsonl", "abc", results)
