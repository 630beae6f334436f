"""How sure a measured mean or a difference of two variants is, by resampling queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

RESAMPLES = 2_000
CONFIDENCE = 0.95
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over `count` queries with its percentile-bootstrap confidence interval (Efron, 1979)."""

    mean: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of (variant - baseline) over the same queries; `p_value` is two-sided."""

    mean: float
    low: float
    high: float
    p_value: float
    count: int

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero and the permutation test agrees."""
        return self.p_value < 1 - CONFIDENCE and not self.low <= 0.0 <= self.high


def mean_interval(values: Sequence[float]) -> Interval:
    """Return the mean of `values` with its 95 % interval; a single value has no width.

    Raises ValueError for no values.
    """
    sample = _sample(values)
    low, high = _bootstrap(sample)
    return Interval(float(sample.mean()), low, high, len(sample))


def paired_difference(variant: Sequence[float], baseline: Sequence[float]) -> PairedDifference:
    """Compare two variants on the same queries, in the same order.

    The interval is a bootstrap over queries of the paired differences; the p-value is a sign-flip permutation
    test (Fisher's randomisation, recommended for retrieval by Smucker, Allan and Carterette, 2007).

    Raises ValueError for no values or for unequal lengths.
    """
    if len(variant) != len(baseline):
        raise ValueError(f"{len(variant)} values cannot be paired with {len(baseline)}")
    sample = _sample(variant) - _sample(baseline)
    low, high = _bootstrap(sample)
    return PairedDifference(float(sample.mean()), low, high, _sign_flip(sample), len(sample))


def _sample(values: Sequence[float]) -> NDArray[np.float64]:
    if not len(values):
        raise ValueError("no values to average")
    return np.asarray(values, dtype=np.float64)


def _bootstrap(sample: NDArray[np.float64]) -> tuple[float, float]:
    if np.ptp(sample) == 0.0:  # scipy warns and returns nan for a constant sample
        return float(sample[0]), float(sample[0])
    result = stats.bootstrap(
        (sample,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(SEED),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def _sign_flip(sample: NDArray[np.float64]) -> float:
    if not np.any(sample):
        return 1.0
    result = stats.permutation_test(
        (sample,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
    )
    return float(result.pvalue)
