"""Whose text a chunk is, and how many tokens its header takes from the budget."""

from __future__ import annotations

from typing import NamedTuple

from repolake.tokens import ELLIPSIS, TokenCounter

MODULE_SYMBOL = "<module>"
MODULE_KIND = "module"
HEADER_RESERVE = 32  # `# `, a file label of 24 characters, ` :: `, and the model's special tokens
FOLDERS_RESERVE = 24  # as much again for a file label of 48 characters
SYMBOL_SHARE = 4  # a symbol takes at most a quarter of the budget, a signature half of what is left
SIGNATURE_SHARE = 2


class Scope(NamedTuple):
    """A definition, a section or the module.

    `room` tokens are left for the text of a chunk that holds the signature, `later_room` where the signature
    is repeated before it. `signature_start` and `signature_end` are bytes.
    """

    symbol: str
    kind: str
    signature: str | None
    signature_token_count: int
    signature_start: int
    signature_end: int
    header_token_count: int
    room: int

    @property
    def later_room(self) -> int:
        """Tokens left for the text of a chunk that repeats the signature."""
        return self.room - self.signature_token_count

    def holds_signature(self, start: int, end: int) -> bool:
        """Whether a span contains the whole signature; true if there is none."""
        return self.signature is None or (start <= self.signature_start and self.signature_end <= end)

    def room_of(self, start: int, end: int) -> int:
        """Return the tokens that the text of this span may have."""
        return self.room if self.holds_signature(start, end) else self.later_room


class ScopeMaker:
    """Makes the scopes of one text under one budget."""

    def __init__(self, counter: TokenCounter, budget: int, data: bytes) -> None:
        self._counter = counter
        self._data = data
        self._left = budget - HEADER_RESERVE
        self.module = self._make(MODULE_SYMBOL, MODULE_KIND, None, (0, 0))

    def inside(self, parent: Scope, name: str, kind: str, signature: tuple[int, int]) -> Scope:
        """Return the scope of a definition inside `parent`; `signature` is its span of bytes."""
        symbol = name if parent is self.module else f"{parent.symbol}.{name}"
        start, end = signature
        text = " ".join(self._data[start:end].decode("utf-8", "replace").split())
        return self._make(symbol, kind, text, signature, name.rsplit(".", 1)[-1])

    def _make(
        self, symbol: str, kind: str, signature: str | None, span: tuple[int, int], name: str = ""
    ) -> Scope:
        symbol, symbol_count = self._shortened_symbol(symbol)
        room = self._left - symbol_count
        count = 0
        if signature is not None:
            most = room // SIGNATURE_SHARE
            signature, count = self._shortened(signature, most, keep_end=False)
            if name not in signature:  # `typedef struct`, a tiny budget, many modifiers
                signature = f"{signature} {name}"
                count = self._counter.count(signature)
                if count > most:
                    signature, count = self._shortened(name, most, keep_end=False)
        return Scope(symbol, kind, signature, count, *span, HEADER_RESERVE + symbol_count, room)

    def _shortened_symbol(self, symbol: str) -> tuple[str, int]:
        """Return a symbol, without its first names if it is too long, and how many tokens it has.

        All of its last name stays, if there is room.
        """
        most = self._left // SYMBOL_SHARE
        names = symbol.split(".")
        while (count := self._counter.count(symbol)) > most:
            if len(names) == 1:
                return self._shortened(symbol, self._left // SIGNATURE_SHARE, keep_end=True)
            names.pop(0)
            symbol = ".".join([ELLIPSIS, *names])
        return symbol, count

    def _shortened(self, text: str, most: int, *, keep_end: bool) -> tuple[str, int]:
        """Return `text`, or as much of one end of it as `most` tokens hold, with `…`, and its tokens."""
        count = self._counter.count(text)
        if count <= most:
            return text, count
        low, high = 0, min(len(text), most * 8)
        while low + 1 < high:
            middle = (low + high) // 2
            part = ELLIPSIS + text[-middle:] if keep_end else text[:middle] + ELLIPSIS
            if self._counter.count(part) <= most:
                low = middle
            else:
                high = middle
        text = ELLIPSIS + text[len(text) - low :] if keep_end else text[:low].rstrip() + ELLIPSIS
        return text, self._counter.count(text)
