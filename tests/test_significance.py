"""Intervals and paired tests against values known beforehand."""

import pytest

from repolake.significance import mean_interval, paired_difference


def test_a_constant_sample_has_an_interval_without_width():
    interval = mean_interval([0.5] * 8)
    assert (interval.mean, interval.low, interval.high, interval.count) == (0.5, 0.5, 0.5, 8)


def test_the_interval_of_a_coin_agrees_with_the_binomial_formula():
    interval = mean_interval([0.0, 1.0] * 200)
    assert interval.mean == 0.5
    half_width = 1.96 * (0.25 / 400) ** 0.5
    assert interval.low == pytest.approx(0.5 - half_width, abs=0.006)
    assert interval.high == pytest.approx(0.5 + half_width, abs=0.006)


def test_a_gain_on_every_query_is_significant():
    difference = paired_difference([0.6 + i / 100 for i in range(20)], [0.5 + i / 100 for i in range(20)])
    assert difference.mean == pytest.approx(0.1)
    assert difference.is_significant


def test_equal_variants_do_not_differ():
    difference = paired_difference([0.1, 0.9, 0.4], [0.1, 0.9, 0.4])
    assert (difference.mean, difference.p_value, difference.is_significant) == (0.0, 1.0, False)


def test_three_queries_prove_nothing_even_if_all_gain():
    # all sign flips of three differences: the two extreme ones of eight, so p = 2 / 8
    difference = paired_difference([1.0, 0.9, 0.8], [0.0, 0.0, 0.0])
    assert difference.p_value == pytest.approx(0.25)
    assert not difference.is_significant


def test_unequal_lengths_cannot_be_paired():
    with pytest.raises(ValueError, match="2 values cannot be paired with 1"):
        paired_difference([1.0, 2.0], [1.0])


def test_no_values_have_no_mean():
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])
