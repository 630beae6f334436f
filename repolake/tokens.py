"""Token counts of any span of a text, by the embedding model's own tokenizer.

A BERT tokenizer splits at white space and punctuation before it looks at its vocabulary, so the count of a
text is the sum over its words, and the count of a word can be remembered: most lines need no call of the
tokenizer at all. Lines with anything but printable ASCII, and all lines of other tokenizers, go through it.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, filterfalse, pairwise
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from repolake.word_counts import SIGNS, WordCounts, WordTable

WORD = re.compile(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]")
SPACES = frozenset(b" \t\r\n")  # form feeds are control characters to BERT, and vanish
GAP = re.compile(r"[ \t\r]")
GAPS = re.compile(r"[ \t\r]+")
_USUAL = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
_USUAL_OR_HIGH = _USUAL + bytes(range(0x80, 0x100))
_NOT_SIGNS = bytes(byte for byte in range(0x100) if byte not in SIGNS)
_SIGNS_TO_SPACES = bytes.maketrans(SIGNS, b" " * len(SIGNS))
ELLIPSIS = "…"
NO_LINE = -1
LINE_FEED = 0x0A
LONGEST_MARGIN = 200
LONGEST_WORD_BYTES = 1_000  # a longer word may be cut, into parts of about this size


def whole_text_tokenizer(tokenizer_file: Path) -> Tokenizer:
    """Return a tokenizer of whole texts, special tokens included, that cuts nothing off and pads nothing."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class TokenCounter:
    """Counts the tokens of one tokenizer: no padding, no truncation, no special tokens."""

    def __init__(
        self, tokenizer: Tokenizer, fingerprint: str, splits_at_spaces: bool, is_lower: bool
    ) -> None:
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self.fingerprint = fingerprint
        self.is_additive = splits_at_spaces
        self._tokenizer = tokenizer
        model = tokenizer.model
        # Without the tokenizer around it: normalizing a word of plain ASCII is to lower its case.
        counts = WordCounts(lambda word: len(model.tokenize(word.lower() if is_lower else word)))
        self._count_of = counts.__getitem__
        self._count_of_other = WordCounts(lambda word: len(self._encode(word))).__getitem__
        self._table = WordTable(counts)
        self._ellipsis_count = len(self._encode(ELLIPSIS))
        added = [re.escape(token.content) for token in tokenizer.get_added_tokens_decoder().values()]
        self._added = re.compile("|".join(added) if added else "(?!)")
        # Lines that are counted as a whole. Control characters vanish: they may join what stands around.
        self._whole = re.compile("|".join([r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", *added]))

    @classmethod
    def load(cls, tokenizer_file: Path) -> TokenCounter:
        """Return the counter of a `tokenizer.json`.

        Raises OSError when the file cannot be read, ValueError when it holds no tokenizer.
        """
        data = tokenizer_file.read_bytes()
        config = json.loads(data)
        normalizer, pre_tokenizer = config.get("normalizer") or {}, config.get("pre_tokenizer") or {}
        splits_at_spaces = (
            normalizer.get("type") == "BertNormalizer" and pre_tokenizer.get("type") == "BertPreTokenizer"
        )
        fingerprint = hashlib.sha256(data).hexdigest()[:16]
        is_lower = bool(normalizer.get("lowercase"))
        return cls(Tokenizer.from_buffer(data), fingerprint, splits_at_spaces, is_lower)

    def count(self, text: str) -> int:
        """Return the number of tokens of `text`, without special tokens."""
        if self.is_additive and ELLIPSIS in text:  # a word of its own, and in every shortened text
            parts = text.split(ELLIPSIS)
            return sum(map(self.count, parts), (len(parts) - 1) * self._ellipsis_count)
        data = text.encode()
        if not (self.is_additive and self._is_usual(text, data)):
            return len(self._encode(text))
        words = data.translate(_SIGNS_TO_SPACES).decode("ascii").split()
        return sum(map(self._count_of, words), len(data.translate(None, _NOT_SIGNS)))

    def line_sums(self, text: str, data: bytes) -> list[int]:
        """Return how many tokens stand before each line of a text, and in all; `data` is its UTF-8."""
        if not self.is_additive:
            encodings = self._encode_batch([line + "\n" for line in text.split("\n")])
            return list(accumulate(map(len, encodings), initial=0))
        apart: dict[int, int] = {}
        if not self._is_usual(text, data):
            lines = text.split("\n")
            has_whole = bool(self._added.search(text) or data.translate(None, _USUAL_OR_HIGH))
            for number, line in enumerate(lines):
                if has_whole and self._whole.search(line):
                    lines[number], apart[number] = "", len(self._encode(line))
                elif not line.isascii():
                    lines[number], apart[number] = self._set_apart(line)
            data = "\n".join(lines).encode()
        sums = self._table.line_sums(data)
        if apart:
            counts = np.diff(sums)
            counts[list(apart)] += list(apart.values())
            np.cumsum(counts, out=sums[1:])
        found: list[int] = sums.tolist()
        return found

    def _set_apart(self, line: str) -> tuple[str, int]:
        """Return a line without the words that are not ASCII, and the tokens of those."""
        words = GAPS.split(line)
        others = filterfalse(str.isascii, words)
        return " ".join(filter(str.isascii, words)), sum(map(self._count_of_other, others))

    def _is_usual(self, text: str, data: bytes) -> bool:
        if not text.isascii() or (not text.isprintable() and data.translate(None, _USUAL)):
            return False
        return self._added.search(text) is None

    def words(self, line: str) -> tuple[list[int], list[int]]:
        """Return where words start in one line, in bytes of its UTF-8, and the tokens of each.

        Between two of these places the tokenizer sees one word; a cut there changes no count. A word longer
        than LONGEST_WORD_BYTES counts as several, each with its own count.
        """
        spans, counts = self._plain_words(line) if self._is_plain(line) else self._encoded_words(line)
        if any(end - start > LONGEST_WORD_BYTES // 4 for start, end in spans):
            spans, counts = self._cut_long_words(line, spans, counts)
        starts = [start for start, _ in spans]
        if not line.isascii():
            sizes = [0, *accumulate(len(letter.encode()) for letter in line)]
            starts = [sizes[start] for start in starts]
        return starts, counts

    def _is_plain(self, line: str) -> bool:
        return self.is_additive and self._is_usual(line, line.encode())

    def _plain_words(self, line: str) -> tuple[list[tuple[int, int]], list[int]]:
        found = list(WORD.finditer(line))
        return [match.span() for match in found], [self._count_of(match[0]) for match in found]

    def _encoded_words(self, line: str) -> tuple[list[tuple[int, int]], list[int]]:
        encoding = self._encode(line)
        spans: list[tuple[int, int]] = []
        counts: list[int] = []
        last = None
        for (start, end), word in zip(encoding.offsets, encoding.word_ids, strict=True):
            if spans and start < spans[-1][1]:  # several tokens of one letter
                counts[-1] += 1
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            elif spans and word is not None and word == last and not GAP.search(line, spans[-1][1], start):
                # Control characters vanish: what stands on both sides of one is a single word.
                counts[-1] += 1
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
                counts.append(1)
            last = word
        return spans, counts

    def _cut_long_words(
        self, line: str, spans: list[tuple[int, int]], counts: list[int]
    ) -> tuple[list[tuple[int, int]], list[int]]:
        cut_spans: list[tuple[int, int]] = []
        cut_counts: list[int] = []
        for (start, end), count in zip(spans, counts, strict=True):
            size = len(line[start:end].encode())
            parts = -(-size // LONGEST_WORD_BYTES)
            if parts == 1:
                cut_spans.append((start, end))
                cut_counts.append(count)
                continue
            # Equal parts: a short last one would no longer be "unknown" as a whole and cost many tokens.
            places = [start + (end - start) * part // parts for part in range(parts + 1)]
            for left, right in pairwise(places):
                cut_spans.append((left, right))
                cut_counts.append(len(self._encode(line[left:right])))
        return cut_spans, cut_counts

    def _encode(self, text: str) -> Encoding:
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _encode_batch(self, texts: list[str]) -> list[Encoding]:
        return self._tokenizer.encode_batch_fast(texts, add_special_tokens=False) if texts else []


class TextTokens:
    """Token counts of any span of one text; all places are bytes of its UTF-8 form."""

    def __init__(self, counter: TokenCounter, text: str, data: bytes) -> None:
        self.data = data
        line_feeds = np.flatnonzero(np.frombuffer(data, np.uint8) == LINE_FEED)
        self.line_ends: list[int] = [*line_feeds.tolist(), len(data)]  # line feeds left out
        self.line_starts: list[int] = [0, *(line_feeds + 1).tolist()]
        self._counter = counter
        # How many tokens stand before each line, and before the end.
        self.line_sums = counter.line_sums(text, data)
        self._words: dict[int, tuple[list[int], list[int]]] = {}

    def line_of(self, place: int) -> int:
        """Return the 0-based line that holds a byte."""
        return bisect_right(self.line_starts, place) - 1

    def line_at(self, place: int) -> int:
        """Return the 0-based line that starts at a byte, the last one plus 1 for the end; else NO_LINE."""
        line = bisect_left(self.line_starts, place)
        if line == len(self.line_starts):
            return line if place == len(self.data) else NO_LINE
        return line if self.line_starts[line] == place else NO_LINE

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens of a span that starts and ends at words; an upper bound elsewhere."""
        if end <= start:
            return 0
        starts, sums = self.line_starts, self.line_sums
        first = bisect_right(starts, start) - 1
        last = bisect_right(starts, end - 1, first) - 1
        line_end = self.line_ends[last]
        if first == last and (start > starts[first] and end < line_end):
            return self._in_line(first, start, end)
        before, after = sums[first], sums[last + 1]
        if start > starts[first]:
            before = sums[first + 1] - self._in_line(first, start, self.line_ends[first])
        if end < line_end:
            after = sums[last] + self._in_line(last, starts[last], end)
        return after - before

    def is_word_start(self, place: int) -> bool:
        """Whether a cut before this byte changes no count."""
        if place == 0 or place >= len(self.data) or self.data[place - 1] in SPACES:
            return True
        starts = self.words_in(self.line_of(place))[0]
        found = bisect_left(starts, place)
        return found < len(starts) and starts[found] == place

    def words_in(self, line: int) -> tuple[list[int], list[int]]:
        """Return where the words of a 0-based line start, and the tokens before each one and in all."""
        found = self._words.get(line)
        if found is None:
            offset = self.line_starts[line]
            text = self.data[offset : self.line_ends[line]].decode("utf-8")
            starts, counts = self._counter.words(text)
            found = ([offset + start for start in starts], [0, *accumulate(counts)])
            self._words[line] = found
        return found

    def _in_line(self, line: int, start: int, end: int) -> int:
        if start >= end:
            return 0
        line_start, line_end = self.line_starts[line], self.line_ends[line]
        # Looking at long margins would make a walk through one enormous line quadratic.
        if (
            start - line_start <= LONGEST_MARGIN
            and line_end - end <= LONGEST_MARGIN
            and not self.data[line_start:start].strip()
            and not self.data[end:line_end].strip()
        ):
            return self.line_sums[line + 1] - self.line_sums[line]
        starts, sums = self.words_in(line)
        return sums[bisect_left(starts, end)] - sums[bisect_left(starts, start)]
