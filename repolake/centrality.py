"""How central each file is to the others that refer to it: PageRank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

DAMPING = 0.85
MOST_ROUNDS = 100
LEAST_CHANGE = 1e-10

Numbers = NDArray[np.int64]
Scores = NDArray[np.float64]


def page_rank(sources: Numbers, targets: Numbers, weights: Scores, starts: Scores) -> Scores:
    """Return the `(n,)` PageRank scores of a weighted graph; they order nodes and sum to at most 1.

    `sources`, `targets` and `weights` are `(m,)`, one entry an edge; `starts`, `(n,)`, says how often a
    reader begins at each node. A node without edges passes nothing on. Brin and Page, 1998.
    """
    starts = starts / max(float(starts.sum()), 1.0)
    out = np.bincount(sources, weights, len(starts))
    shares = weights / out[sources]
    scores = starts
    for _ in range(MOST_ROUNDS):
        received = np.bincount(targets, shares * scores[sources], len(starts))
        following = (1 - DAMPING) * starts + DAMPING * received
        is_settled = float(np.abs(following - scores).sum()) < LEAST_CHANGE
        scores = following
        if is_settled:
            break
    return scores
