"""How many tokens the words of a text have: asked of the vocabulary once, then remembered.

Whole texts are counted with arrays. There a word of up to 16 bytes is its own key, a pair of 64-bit numbers,
and a table has a slot for each hash of a key. A slot keeps the word that came last: it is compared with the
whole key, and words that are not there are asked of the dictionary, so that every count is exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

REMEMBERED_WORD_LENGTH = 40  # longer words are hashes and data, which do not come back
REMEMBERED_WORDS = 200_000  # 20 MB; the words of most runs
SLOT_BITS = 17
KEY_BYTES = 16
_HALF = KEY_BYTES // 2
ALPHANUMERIC = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
# Punctuation: each sign is one token, whether the vocabulary knows it or not.
SIGNS = bytes(byte for byte in range(0x21, 0x7F) if byte not in ALPHANUMERIC)
_WORD, _SIGN, _LINE_FEED = 1, 2, 3
_KINDS = bytes(
    _WORD if byte in ALPHANUMERIC else _SIGN if byte in SIGNS else _LINE_FEED if byte == 0x0A else 0
    for byte in range(0x100)
)
_SLOT = np.dtype([("low", np.uint64), ("high", np.uint64), ("count", np.int64)])
# What of eight bytes belongs to a word of so many; the first byte is the lowest.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_HALF + 1)], np.uint64)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)  # odd, their bits well mixed


class WordCounts(dict[str, int]):
    """The tokens of each word, counted when it comes up first."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, word: str) -> int:
        count = self._count(word)
        if len(word) <= REMEMBERED_WORD_LENGTH:
            if len(self) >= REMEMBERED_WORDS:
                self.clear()
            self[word] = count
        return count


class WordTable:
    """Counts the tokens of whole texts, with one look at an array for all words; for one thread."""

    def __init__(self, counts: WordCounts) -> None:
        self._count_of = counts.__getitem__
        self._slots = np.zeros(1 << SLOT_BITS, _SLOT)
        self._low, self._high, self._counts = (self._slots[name] for name in ("low", "high", "count"))

    def line_sums(self, data: bytes) -> NDArray[np.int64]:
        """Return how many tokens stand before each line of a text, and in all; all but ASCII is space."""
        padded = b" " + data + b"\n" + bytes(KEY_BYTES)
        kinds = np.frombuffer(padded.translate(_KINDS), np.uint8)
        is_word = kinds == _WORD
        starts_word = is_word[1:] > is_word[:-1]
        ends = np.flatnonzero(is_word[1:] < is_word[:-1])
        places = np.flatnonzero(starts_word | (kinds[1:] > _WORD))
        kinds = kinds[1:][places]
        counts = (kinds == _SIGN).astype(np.int64)
        words = np.flatnonzero(kinds == _WORD)
        counts[words] = self._word_counts(padded[1:], places[words], ends)
        sums: NDArray[np.int64] = np.concatenate(([0], np.cumsum(counts)[kinds == _LINE_FEED]))
        return sums

    def _word_counts(
        self, padded: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        sizes = ends - starts
        # The eight bytes from each place on, read where they stand.
        halves = np.ndarray((len(padded) - _HALF + 1,), "<u8", padded, 0, (1,))
        low = halves[starts] & _MASKS[np.minimum(sizes, _HALF)]
        high = np.zeros(len(starts), np.uint64)
        long = np.flatnonzero(sizes > _HALF)
        high[long] = halves[starts[long] + _HALF] & _MASKS[np.minimum(sizes[long] - _HALF, _HALF)]
        slots = ((low ^ high * _FACTORS[0]) * _FACTORS[1] >> np.uint64(64 - SLOT_BITS)).view(np.int64)
        counts: NDArray[np.int64] = self._counts[slots]
        is_known = (self._low[slots] == low) & (self._high[slots] == high) & (sizes <= KEY_BYTES)
        others = np.flatnonzero(~is_known)
        if len(others):
            spans = zip(starts[others].tolist(), ends[others].tolist(), strict=True)
            counts[others] = [self._count_of(padded[start:end].decode("ascii")) for start, end in spans]
            others = others[sizes[others] <= KEY_BYTES]
            kept = np.empty(len(others), _SLOT)
            kept["low"], kept["high"], kept["count"] = low[others], high[others], counts[others]
            self._slots[slots[others]] = kept
        return counts
