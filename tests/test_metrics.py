"""Metrics against values computed by hand."""

import pytest

from repolake.metrics import Hit, Target, query_metrics

LOG2_3 = 1.5849625007211562


def whole_file(name: str, grade: int = 1) -> Target:
    return Target(name, grade=grade)


def hits(*names: str) -> list[Hit]:
    return [Hit(name, 1, 10) for name in names]


@pytest.mark.parametrize(
    ("found", "gold", "recall", "reciprocal_rank", "ndcg"),
    [
        ("gg", "g", 1.0, 1.0, 1.0),
        ("AA", "AB", 0.5, 1.0, 0.613147),
        ("xAAB", "AB", 1.0, 0.5, 0.650921),
        ("xy", "g", 0.0, 0.0, 0.0),
        ("g", "g", 1.0, 1.0, 1.0),
        ("xxxxxxxxxg", "g", 1.0, 0.1, 0.289065),
    ],
)
def test_repeated_results_count_once_at_their_first_rank(found, gold, recall, reciprocal_rank, ndcg):
    metrics = query_metrics(hits(*found), [whole_file(name) for name in gold])
    assert metrics["recall@10"] == recall
    assert metrics["mrr@10"] == pytest.approx(reciprocal_rank)
    assert metrics["ndcg@10"] == pytest.approx(ndcg, abs=1e-6)


def test_a_window_that_ends_inside_the_target_touches_it_but_does_not_hold_it_whole():
    target = Target("a.py", "f", 10, 20)
    metrics = query_metrics([Hit("a.py", 1, 15)], [target])
    assert metrics["touched@5"] == 1.0
    assert metrics["whole@5"] == 0.0
    assert query_metrics([Hit("a.py", 10, 20)], [target])["whole@5"] == 1.0


def test_adjacent_lines_and_other_files_do_not_touch():
    target = Target("a.py", "f", 10, 20)
    metrics = query_metrics([Hit("a.py", 1, 9), Hit("a.py", 21, 30), Hit("b/a.py", 10, 20)], [target])
    assert metrics["touched@10"] == 0.0


def test_one_hit_over_two_targets_earns_one_gain():
    targets = [Target("a.py", "f", 1, 5, grade=2), Target("a.py", "g", 7, 9, grade=1)]
    metrics = query_metrics([Hit("a.py", 1, 9)], targets)
    assert metrics["recall@1"] == 1.0
    # gain 2 at rank 1 over the ideal 2 + 1 / log2(3)
    assert metrics["ndcg@10"] == pytest.approx(2 / (2 + 1 / LOG2_3))


def test_a_secondary_target_first_costs_ndcg_but_not_mrr():
    targets = [whole_file("a", grade=2), whole_file("b", grade=1)]
    metrics = query_metrics(hits("b", "a"), targets)
    assert metrics["mrr@10"] == 1.0
    assert metrics["ndcg@10"] == pytest.approx((1 + 2 / LOG2_3) / (2 + 1 / LOG2_3))


def test_file_metrics_rank_distinct_files():
    targets = [Target("b", "f", 1, 2)]
    metrics = query_metrics([Hit("a", 1, 2), Hit("a", 3, 4), Hit("b", 50, 60)], targets)
    assert metrics["mrr@10"] == 0.0
    assert metrics["file_mrr@10"] == 0.5
    assert metrics["file_recall@1"] == 0.0
    assert metrics["file_recall@5"] == 1.0


def test_hits_after_the_tenth_do_not_count():
    metrics = query_metrics(hits(*"abcdefghij", "g2"), [whole_file("g2")])
    assert metrics["recall@10"] == metrics["mrr@10"] == metrics["ndcg@10"] == 0.0


def test_a_query_without_targets_is_refused():
    with pytest.raises(ValueError, match="at least one target"):
        query_metrics(hits("a"), [])
