"""The fixed window chunker, control of every evaluation: lines up to the budget, then a step back."""

from __future__ import annotations

from repolake.packing import Atoms, Span, furthest, trim
from repolake.scopes import Scope
from repolake.tokens import TextTokens

OVERLAP_TOKENS = 64


def fixed_windows(tokens: TextTokens, atoms: Atoms, scope: Scope) -> list[Span]:
    """Return windows over lines (of a line that does not fit: over its words), in order.

    Each begins about OVERLAP_TOKENS before the end of the one before it, but never at or before its start,
    and small budgets overlap by at most a quarter.
    """
    starts = [*atoms.starts, len(tokens.data)]
    count = len(atoms.starts)
    overlap = min(OVERLAP_TOKENS, scope.room // 4)
    spans: list[Span] = []
    first = 0
    while first < count:
        end = furthest(tokens, starts, first, count, scope.room)
        start_byte, end_byte = trim(tokens, starts[first], starts[end])
        if end_byte > start_byte:
            spans.append(Span(start_byte, end_byte, scope))
        if end == count:
            break
        following = end
        while following - 1 > first and tokens.count(starts[following - 1], starts[end]) <= overlap:
            following -= 1
        first = following
    return spans
