"""Pack the atoms of a text into chunks: as few cuts as the budget allows, at the best places.

An atom is the smallest stretch that is not cut; the atoms of a text follow one another without gaps, so that
whatever is packed covers the whole text. Split large, then merge small siblings: cAST, arXiv 2506.15655.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from repolake.scopes import Scope
from repolake.tokens import TextTokens

BYTES_PER_TOKEN = 16  # a chunk's bytes are bounded too: white space and unknown words cost next to no tokens
LONGEST_WORDLESS = 400
WORD_BYTE = re.compile(rb"[0-9A-Za-z\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Atoms:
    """The atoms of one text by column: texts have thousands.

    Each starts at a byte of `starts`, the start of a line of `lines` or else NO_LINE, and ends where the next
    one starts. A cut before a low depth is better. A whole one is a definition that fits: it is packed with
    nothing else.
    """

    starts: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    are_whole: list[bool] = field(default_factory=list)


class Span(NamedTuple):
    """A chunk's bytes, white space at both ends left out but for the first line's indentation."""

    start: int
    end: int
    scope: Scope


def fits(tokens: TextTokens, start: int, end: int, room: int) -> bool:
    """Whether the text between two places, white space at its ends left out, fits into `room` tokens."""
    if end - start > (most := max(room, 1) * BYTES_PER_TOKEN):
        start, end = trim(tokens, start, end)
        if end - start > most:
            return False
    return tokens.count(start, end) <= room


def trim(tokens: TextTokens, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank lines at its start and white space at its end."""
    text = tokens.data[start:end]
    end = start + len(text.rstrip())
    first = start + len(text) - len(text.lstrip())
    if first >= end:
        return start, start
    line_start = tokens.line_starts[tokens.line_of(first)]
    return max(start, line_start), end


class _Places(NamedTuple):
    """Where atoms start and the last one ends: bytes, tokens before (of those that start lines), depths."""

    starts: list[int]
    lines: list[int]
    sums: list[int]
    depths: list[int]

    @classmethod
    def of(cls, tokens: TextTokens, atoms: Atoms) -> _Places:
        lines = [*atoms.lines, len(tokens.line_starts)]
        sums = list(map(tokens.line_sums.__getitem__, lines))
        return cls([*atoms.starts, len(tokens.data)], lines, sums, atoms.depths)


def pack(tokens: TextTokens, atoms: Atoms) -> list[Span]:
    """Return the chunks of a text in order; together they hold every atom that is not blank."""
    places = _Places.of(tokens, atoms)
    starts, scopes, are_whole = places.starts, atoms.scopes, atoms.are_whole
    spans: list[Span] = []
    first, count = 0, len(scopes)
    while first < count:
        last, scope = first + 1, scopes[first]
        if not are_whole[first]:
            while last < count and scopes[last] is scope and not are_whole[last]:
                last += 1
        for left, right in _pack_run(tokens, places, scope, (first, last)):
            start, end = trim(tokens, starts[left], starts[right])
            if end > start:
                spans.append(Span(start, end, scope))
        first = last
    return _join_wordless(tokens, spans)


def furthest(tokens: TextTokens, starts: list[int], first: int, last: int, room: int) -> int:
    """Return the furthest end, at most `last`, so that atoms `first:end` fit together; at least one atom."""
    low, step = first + 1, 1
    while low + step <= last and fits(tokens, starts[first], starts[low + step], room):
        low += step
        step *= 2
    high = min(low + step, last + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        if fits(tokens, starts[first], starts[middle], room):
            low = middle
        else:
            high = middle
    return low


def _pack_run(
    tokens: TextTokens, places: _Places, scope: Scope, run: tuple[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the index ranges of the chunks of one run of atoms."""
    first, last = run
    if last - first == 1:
        yield run
        return
    starts = places.starts
    are_lines = min(places.lines[first : last + 1]) >= 0
    while first < last:
        end = first
        if scope.holds_signature(starts[first], starts[last]):
            end = _furthest(tokens, places, (first, last), scope.room, are_lines=are_lines)
        if end == first or not scope.holds_signature(starts[first], starts[end]):
            end = _furthest(tokens, places, (first, last), scope.later_room, are_lines=are_lines)
        if end < last:
            cut = _best_cut(tokens, places, first, end, are_lines=are_lines)
            # A chunk with less than its signature would have to repeat it, and might not fit any more.
            if scope.holds_signature(starts[first], starts[end]) and not scope.holds_signature(
                starts[first], starts[cut]
            ):
                cut = end
            end = cut
        yield first, end
        first = end


def _furthest(
    tokens: TextTokens, places: _Places, run: tuple[int, int], room: int, *, are_lines: bool
) -> int:
    """Return what `furthest` does; of lines the sums are known."""
    starts, sums = places.starts, places.sums
    first, last = run
    if are_lines:
        end = max(first, bisect_right(sums, sums[first] + room, first + 1, last + 1) - 1)
        if end > first and starts[end] - starts[first] <= room * BYTES_PER_TOKEN:
            return end
    return furthest(tokens, starts, first, last, room)


def _best_cut(tokens: TextTokens, places: _Places, first: int, end: int, *, are_lines: bool) -> int:
    """Return the shallowest place for a cut in the second half of what fits, the latest among equals."""
    starts, sums = places.starts, places.sums
    if are_lines:
        middle = bisect_left(sums, sums[first] + (sums[end] - sums[first]) // 2, first + 1, end)
    else:
        half = tokens.count(starts[first], starts[end]) // 2
        middle = bisect_left(
            starts, half, first + 1, end, key=lambda start: tokens.count(starts[first], start)
        )
    best: int = min(range(end, middle - 1, -1), key=places.depths.__getitem__)
    return best


def _join_wordless(tokens: TextTokens, spans: list[Span]) -> list[Span]:
    """Give closing brackets, quotes and rulers that stand alone to a neighbour: nobody can find them."""
    joined: list[Span] = []
    waiting: Span | None = None  # a wordless span that is to join the one after it
    for found in spans:
        span = found
        if waiting is not None:
            if fits(tokens, waiting.start, span.end, span.scope.room_of(span.start, span.end)):
                span = Span(waiting.start, span.end, span.scope)
            else:
                joined.append(waiting)
            waiting = None
        if _has_words(tokens, span):
            joined.append(span)
        elif not joined or not _join_before(tokens, joined, span):
            waiting = span
    if waiting is not None:
        joined.append(waiting)
    return joined


def _join_before(tokens: TextTokens, joined: list[Span], span: Span) -> bool:
    """Join a wordless span to the latest one, or to that one's last line, cut off for it."""
    before = joined[-1]
    if fits(tokens, before.start, span.end, before.scope.room_of(before.start, before.end)):
        joined[-1] = Span(before.start, span.end, before.scope)
        return True
    line = tokens.line_of(before.end - 1)
    while (place := tokens.line_starts[line]) > before.start:
        moved = Span(place, span.end, before.scope)
        if _has_words(tokens, moved):
            kept = Span(*trim(tokens, before.start, place), before.scope)
            is_sound = _has_words(tokens, kept) and all(
                fits(tokens, part.start, part.end, part.scope.room_of(part.start, part.end))
                for part in (kept, moved)
            )
            if is_sound:
                joined[-1:] = [kept, moved]
            return is_sound
        line -= 1
    return False


def _has_words(tokens: TextTokens, span: Span) -> bool:
    text = tokens.data[span.start : span.end]
    return len(text) > LONGEST_WORDLESS or WORD_BYTE.search(text) is not None
