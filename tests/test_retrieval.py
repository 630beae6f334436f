"""Retrieval on real code does not become worse: the bundled model on the small label set, held to a floor."""

from __future__ import annotations

import sys

import pytest
from small_evaluation import evaluate_small, recorded

from repolake.evaluations import Evaluation, VariantResult
from repolake.gate import dropped
from repolake.records import SearchMode

# The corpus is a part of the running interpreter's library.
pytestmark = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="labels are for Python 3.11")
SLACK = 0.03  # patch versions of Python differ by a few lines


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    return evaluate_small(tmp_path_factory.mktemp("small"))


def of_mode(evaluation: Evaluation, mode: SearchMode) -> VariantResult:
    return next(result for result in evaluation.results if result.variant.mode is mode)


def mean(result: VariantResult, metric: str) -> float:
    interval = result.interval(metric)
    assert interval is not None
    return interval.mean


def test_every_label_of_the_small_set_resolves(found: Evaluation):
    assert found.unresolved == ()


@pytest.mark.parametrize("metric", ["ndcg@10", "touched@5", "whole@5"])
def test_no_mode_falls_significantly_below_its_recorded_values(found: Evaluation, metric: str):
    assert [str(drop) for drop in dropped(found, recorded(found), metric, max_drop=0.02)] == []


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_mean_of_every_mode_stays_at_its_recorded_height(found: Evaluation, mode: SearchMode):
    before = mean(of_mode(recorded(found), mode), "ndcg@10")
    assert mean(of_mode(found, mode), "ndcg@10") >= before - SLACK


def test_words_and_meaning_together_find_more_than_either(found: Evaluation):
    hybrid, text, vector = (
        mean(of_mode(found, mode), "ndcg@10")
        for mode in (SearchMode.HYBRID, SearchMode.TEXT, SearchMode.VECTOR)
    )
    assert hybrid > max(text, vector)
