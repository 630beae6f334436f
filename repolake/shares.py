"""Shares the time of a call that served several snapshots out among them."""

from __future__ import annotations

from collections.abc import Sequence


def shares(seconds: float, weights: Sequence[int]) -> list[float]:
    """Return the seconds of each snapshot: by its weight, alike if nothing weighs."""
    total = sum(weights)
    if not total:
        return [seconds / len(weights)] * len(weights) if weights else []
    return [seconds * weight / total for weight in weights]
