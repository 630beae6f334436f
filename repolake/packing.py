"""Pack the atoms of a text into chunks: as few cuts as the budget allows, at the best places.

An atom is the smallest stretch that is not cut; the atoms of a text follow one another without gaps, so that
whatever is packed covers the whole text. Split large, then merge small siblings: cAST, arXiv 2506.15655.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from repolake.tokens import TextTokens

MODULE_SYMBOL = "<module>"
MODULE_KIND = "module"
BYTES_PER_TOKEN = 16  # a chunk's bytes are bounded too: white space and unknown words cost next to no tokens
CLOSERS = frozenset(b")]}>;,:.")


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose text a chunk is, and how many tokens of it fit into one chunk.

    `room` is left for the text when it holds the signature, `later_room` when the signature is repeated.
    """

    symbol: str
    kind: str
    signature: str | None
    signature_token_count: int
    signature_start: int
    signature_end: int
    fixed_token_count: int
    room: int

    @property
    def later_room(self) -> int:
        """Tokens left for the text of a chunk that repeats the signature."""
        return self.room - self.signature_token_count

    def holds_signature(self, start: int, end: int) -> bool:
        """Whether a span contains the whole signature; true if there is none."""
        return self.signature is None or (start <= self.signature_start and self.signature_end <= end)


@dataclass(frozen=True, slots=True)
class Atom:
    """Starts at `start` and ends where the next one starts. A cut before a low `depth` is better.

    A `whole` atom is a definition that fits: it is packed with nothing else.
    """

    start: int
    scope: Scope
    depth: int
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk's bytes, white space at both ends left out but for the first line's indentation."""

    start: int
    end: int
    scope: Scope


def fits(tokens: TextTokens, start: int, end: int, room: int) -> bool:
    """Whether the text between two places, white space at its ends left out, fits into `room` tokens."""
    start, end = trim(tokens, start, end)
    return end - start <= max(room, 1) * BYTES_PER_TOKEN and tokens.count(start, end) <= room


def trim(tokens: TextTokens, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank lines at its start and white space at its end."""
    text = tokens.data[start:end]
    end = start + len(text.rstrip())
    first = start + len(text) - len(text.lstrip())
    if first >= end:
        return start, start
    line_start = tokens.line_starts[tokens.line_of(first)]
    return max(start, line_start), end


def pack(tokens: TextTokens, atoms: list[Atom]) -> list[Span]:
    """Return the chunks of a text in order; together they hold every atom that is not blank."""
    size = len(tokens.data)
    starts = [atom.start for atom in atoms] + [size]
    spans: list[Span] = []
    first = 0
    while first < len(atoms):
        last = first + 1
        while last < len(atoms) and _belong_together(atoms[last - 1], atoms[last]):
            last += 1
        for left, right in _pack_run(tokens, atoms, starts, first, last):
            start, end = trim(tokens, starts[left], starts[right])
            if end > start:
                spans.append(Span(start, end, atoms[left].scope))
        first = last
    return _join_closers(tokens, spans)


def _belong_together(left: Atom, right: Atom) -> bool:
    return left.scope is right.scope and not left.whole and not right.whole


def _pack_run(
    tokens: TextTokens, atoms: list[Atom], starts: list[int], first: int, last: int
) -> Iterator[tuple[int, int]]:
    """Yield the index ranges of the chunks of one run of atoms."""
    scope = atoms[first].scope
    while first < last:
        room = scope.room if starts[first] <= scope.signature_start or scope.signature is None else 0
        end = furthest(tokens, starts, first, last, room) if room else first
        if not room or not scope.holds_signature(starts[first], starts[end]):
            end = furthest(tokens, starts, first, last, scope.later_room)
        if end < last:
            end = _best_cut(tokens, atoms, starts, first, end)
        yield first, end
        first = end


def furthest(tokens: TextTokens, starts: list[int], first: int, last: int, room: int) -> int:
    """Return the furthest end whose atoms fit together; at least one atom."""
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


def _best_cut(tokens: TextTokens, atoms: list[Atom], starts: list[int], first: int, end: int) -> int:
    """Return the shallowest place for a cut in the second half of what fits, the latest among equals."""
    half = tokens.count(starts[first], starts[end]) // 2
    best = end
    place = end
    while place > first + 1:
        place -= 1
        if tokens.count(starts[first], starts[place]) < half:
            break
        if atoms[place].depth < atoms[best].depth:
            best = place
    return best


def _join_closers(tokens: TextTokens, spans: list[Span]) -> list[Span]:
    """Give closing brackets that stand alone to the chunk before them."""
    joined: list[Span] = []
    for span in spans:
        text = tokens.data[span.start : span.end]
        if joined and len(text) < 200 and all(byte in CLOSERS or byte <= 32 for byte in text):
            before = joined[-1]
            room = before.scope.room if _holds(before) else before.scope.later_room
            if fits(tokens, before.start, span.end, room):
                joined[-1] = Span(before.start, span.end, before.scope)
                continue
        joined.append(span)
    return joined


def _holds(span: Span) -> bool:
    return span.scope.holds_signature(span.start, span.end)
