"""Storing evaluations, and comparing their variants."""

from dataclasses import replace

import pytest
from made_evaluations import HYBRID, TEXT, evaluation, result

from repolake.errors import UnknownNameError
from repolake.evaluations import (
    VariantResult,
    groups,
    latest_evaluation,
    read_evaluation,
    write_evaluation,
)
from repolake.lake import Lake


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


def test_the_latest_evaluation_of_a_label_file_is_not_that_of_another(tmp_path):
    lake = Lake(tmp_path)
    ours = evaluation("20260102T000000-aaaaaa", result(HYBRID, [0.5]))
    write_evaluation(lake, ours)
    write_evaluation(lake, replace(ours, evaluation_id="20260103T000000-bbbbbb", queries="other.jsonl"))
    assert latest_evaluation(lake, "q.jsonl") == ours
    assert latest_evaluation(lake, "never.jsonl") is None


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
