"""Storing evaluations, and the gate against a baseline."""

from datetime import UTC, datetime

import pytest

from repolake.errors import UnknownNameError
from repolake.evaluations import (
    Evaluation,
    QueryResult,
    Variant,
    VariantResult,
    dropped,
    groups,
    read_evaluation,
    write_evaluation,
)
from repolake.lake import Lake
from repolake.records import Chunker, SearchMode

HYBRID = Variant(SearchMode.HYBRID, Chunker.AST, "minilm", 256)
TEXT = Variant(SearchMode.TEXT, Chunker.AST, "minilm", 256, "source")


def result(variant: Variant, values: list[float]) -> VariantResult:
    queries = tuple(
        QueryResult(f"q{i}", "behaviour" if i % 2 else None, "python", i == 0, {"ndcg@10": value}, 0.001 * i)
        for i, value in enumerate(values)
    )
    return VariantResult(variant, "minilm-1a2b", "f00d", None, queries)


def evaluation(name: str, *results: VariantResult) -> Evaluation:
    return Evaluation(name, datetime(2026, 1, 2, tzinfo=UTC), "q.jsonl", "abc", results)


def test_an_evaluation_is_read_back_as_it_was_written(tmp_path):
    lake = Lake(tmp_path)
    written = evaluation("20260102T000000-aaaaaa", result(HYBRID, [0.5, 1.0]), result(TEXT, [0.25, 0.0]))
    write_evaluation(lake, written)
    assert read_evaluation(lake, "latest") == written
    assert read_evaluation(lake, "20260102") == written


def test_an_unknown_or_ambiguous_evaluation_is_refused_with_the_known_ones(tmp_path):
    lake = Lake(tmp_path)
    write_evaluation(lake, evaluation("20260102T000000-aaaaaa", result(HYBRID, [0.5])))
    write_evaluation(lake, evaluation("20260102T000000-bbbbbb", result(HYBRID, [0.5])))
    with pytest.raises(UnknownNameError, match="aaaaaa, 20260102T000000-bbbbbb"):
        read_evaluation(lake, "20260102")
    with pytest.raises(UnknownNameError, match="no single evaluation is named 'x'"):
        read_evaluation(lake, "x")


def test_a_significant_drop_is_found_and_a_small_one_is_not():
    before = evaluation("a", result(HYBRID, [0.9] * 30), result(TEXT, [0.9] * 30))
    after = evaluation("b", result(HYBRID, [0.8] * 30), result(TEXT, [0.89] * 30))
    drops = dropped(after, before, "ndcg@10", max_drop=0.02)
    assert [variant for variant, _ in drops] == [HYBRID]
    assert drops[0][1].mean == pytest.approx(-0.1)


def test_a_large_drop_on_few_queries_is_chance():
    before = evaluation("a", result(HYBRID, [1.0, 0.0, 1.0]))
    after = evaluation("b", result(HYBRID, [0.0, 0.0, 1.0]))
    assert dropped(after, before, "ndcg@10", max_drop=0.02) == []


def test_a_baseline_without_a_common_variant_is_refused():
    with pytest.raises(UnknownNameError, match="only text ast minilm 256 source"):
        dropped(evaluation("b", result(HYBRID, [1.0])), evaluation("a", result(TEXT, [1.0])), "ndcg@10", 0.02)


def test_variants_are_paired_by_query_and_not_by_position():
    one = result(HYBRID, [0.1, 0.9])
    other = VariantResult(TEXT, "m", "f", None, tuple(reversed(result(TEXT, [0.1, 0.9]).queries)))
    difference = one.against(other, "ndcg@10")
    assert difference is not None
    assert difference.mean == 0.0


def test_groups_split_the_queries_by_symbol_category_and_language():
    found = result(HYBRID, [0.0, 1.0, 0.5])
    means = {name: found.interval("ndcg@10", test).mean for name, test in groups(found)}
    assert means == {
        "all": 0.5,
        "symbol in query": 0.0,
        "no symbol in query": 0.75,
        "category behaviour": 1.0,
        "language python": 0.5,
    }
