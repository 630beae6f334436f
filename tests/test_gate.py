"""The gate against a baseline: what counts as a drop, and what may not pass for want of a comparison."""

from dataclasses import replace

import pytest
from made_evaluations import HYBRID, TEXT, evaluation, result

from repolake.errors import UnknownNameError
from repolake.evaluations import write_evaluation
from repolake.gate import dropped, find_baseline
from repolake.lake import Lake


def test_a_significant_drop_is_found_and_a_small_one_is_not():
    before = evaluation("a", result(HYBRID, [0.9] * 30), result(TEXT, [0.9] * 30))
    after = evaluation("b", result(HYBRID, [0.8] * 30), result(TEXT, [0.89] * 30))
    drops = dropped(after, before, "ndcg@10", max_drop=0.02)
    assert [drop.variant for drop in drops] == [HYBRID]
    assert drops[0].difference.mean == pytest.approx(-0.1)
    assert str(drops[0]) == "hybrid ast minilm 256: ndcg@10 fell by 0.100 [0.100, 0.100] since a"


def test_a_large_drop_on_few_queries_is_chance():
    before = evaluation("a", result(HYBRID, [1.0, 0.0, 1.0]))
    after = evaluation("b", result(HYBRID, [0.0, 0.0, 1.0]))
    assert dropped(after, before, "ndcg@10", max_drop=0.02) == []


def test_a_baseline_without_a_common_variant_is_refused():
    with pytest.raises(UnknownNameError, match="only text ast minilm 256 folders source"):
        dropped(evaluation("b", result(HYBRID, [1.0])), evaluation("a", result(TEXT, [1.0])), "ndcg@10", 0.02)


def test_a_baseline_without_a_common_query_or_metric_is_refused():
    before = evaluation("a", result(HYBRID, [0.9] * 30))
    other = replace(result(HYBRID, [0.1]), queries=(replace(result(HYBRID, [0.1]).queries[0], query_id="x"),))
    with pytest.raises(UnknownNameError, match="in common"):
        dropped(evaluation("b", other), before, "ndcg@10", 0.02)
    with pytest.raises(UnknownNameError, match="no query with 'ndgc@10'"):
        dropped(before, before, "ndgc@10", 0.02)


def test_the_latest_baseline_is_of_the_same_label_file_and_must_exist(tmp_path):
    lake = Lake(tmp_path)
    with pytest.raises(UnknownNameError, match=r"q\.jsonl was never evaluated here"):
        find_baseline(lake, "latest", "q.jsonl", "ndcg@10")
    with pytest.raises(UnknownNameError, match=r"no metric 'ndcg'; name one of .* ndcg@10"):
        find_baseline(lake, "latest", "q.jsonl", "ndcg")
    ours = evaluation("20260102T000000-aaaaaa", result(HYBRID, [0.5]))
    write_evaluation(lake, ours)
    write_evaluation(lake, replace(ours, evaluation_id="20260103T000000-bbbbbb", queries="other.jsonl"))
    assert find_baseline(lake, "latest", "q.jsonl", "ndcg@10") == ours
    assert find_baseline(lake, "20260103", "q.jsonl", "ndcg@10").queries == "other.jsonl"
