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
from itertools import accumulate, pairwise
from operator import add
from pathlib import Path

from tokenizers import Encoding, Tokenizer

WORD = re.compile(r"[A-Za-z0-9]+|[^\sA-Za-z0-9]")
SPACES = frozenset(b" \t\r\n")  # form feeds are control characters to BERT, and vanish
GAP = re.compile(r"[ \t\r]")
_ALPHANUMERIC = frozenset(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_USUAL = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
_USUAL_OR_HIGH = _USUAL + bytes(range(0x80, 0x100))
# Punctuation: each sign is one token, whether the vocabulary knows it or not.
_SIGNS = bytes(byte for byte in range(0x21, 0x7F) if byte not in _ALPHANUMERIC)
_NOT_SIGNS = bytes(byte for byte in range(0x100) if byte not in _SIGNS and byte != 0x0A)
_NOT_SIGNS_OR_LINES = bytes(byte for byte in range(0x100) if byte not in _SIGNS)
_SIGNS_TO_SPACES = bytes.maketrans(_SIGNS, b" " * len(_SIGNS))
ELLIPSIS = "…"
_LINE_MARK = "\x01"  # no usual text has it
REMEMBERED_WORD_LENGTH = 40  # longer words are hashes and data, which do not come back
REMEMBERED_WORDS = 1_000_000
NO_LINE = -1
LONGEST_MARGIN = 200
LONGEST_WORD_BYTES = 1_000  # a longer word may be cut, into parts of about this size


class _WordCounts(dict[str, int]):
    """The tokens of each ASCII word, asked of the vocabulary when it comes up first."""

    def __init__(self, tokenizer: Tokenizer, *, is_lower: bool) -> None:
        super().__init__({_LINE_MARK: 0})
        self._model = tokenizer.model
        self._is_lower = is_lower

    def __missing__(self, word: str) -> int:
        # Without the tokenizer around it: normalizing a word of plain ASCII is to lower its case.
        count = len(self._model.tokenize(word.lower() if self._is_lower else word))
        if len(word) <= REMEMBERED_WORD_LENGTH:
            if len(self) >= REMEMBERED_WORDS:
                self.clear()
                self[_LINE_MARK] = 0
            self[word] = count
        return count


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
        self._count_of = _WordCounts(tokenizer, is_lower=is_lower).__getitem__
        self._ellipsis_count = len(self._encode(ELLIPSIS))
        added = [re.escape(token.content) for token in tokenizer.get_added_tokens_decoder().values()]
        self._added = re.compile("|".join(added) if added else "(?!)")
        self._unusual = re.compile("|".join([r"[^\x20-\x7e\t\r\n]", *added]))

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
        return sum(map(self._count_of, words), len(data.translate(None, _NOT_SIGNS_OR_LINES)))

    def line_sums(self, text: str, data: bytes) -> list[int]:
        """Return how many tokens stand before each line of a text, and in all; `data` is its UTF-8."""
        if not self.is_additive:
            encodings = self._encode_batch([line + "\n" for line in text.split("\n")])
            return list(accumulate(map(len, encodings), initial=0))
        unusual: dict[int, str] = {}
        if not self._is_usual(text, data):
            lines = text.split("\n")
            has_others = self._added.search(text) or data.translate(None, _USUAL_OR_HIGH)
            is_unusual = self._unusual.search if has_others else _is_not_ascii
            unusual = {number: line for number, line in enumerate(lines) if is_unusual(line)}
            for number in unusual:
                lines[number] = ""
            data = "\n".join(lines).encode()
        spaced = data.translate(_SIGNS_TO_SPACES).decode("ascii")
        words = spaced.replace("\n", f" {_LINE_MARK} ").split()
        words.append(_LINE_MARK)
        counts = accumulate(map(self._count_of, words))
        word_sums = [count for word, count in zip(words, counts, strict=True) if word == _LINE_MARK]
        signs = accumulate(map(len, data.translate(None, _NOT_SIGNS).split(b"\n")))
        sums = [0, *map(add, word_sums, signs)]
        if not unusual:
            return sums
        line_counts = [after - before for before, after in pairwise(sums)]
        encodings = self._encode_batch(list(unusual.values()))
        for number, encoding in zip(unusual, encodings, strict=True):
            line_counts[number] = len(encoding)
        return list(accumulate(line_counts, initial=0))

    def _is_usual(self, text: str, data: bytes) -> bool:
        return not data.translate(None, _USUAL) and not self._added.search(text)

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


def _is_not_ascii(line: str) -> bool:
    return not line.isascii()


class TextTokens:
    """Token counts of any span of one text; all places are bytes of its UTF-8 form."""

    def __init__(self, counter: TokenCounter, text: str, data: bytes) -> None:
        self.data = data
        sizes = map(len, data.split(b"\n"))
        self.line_ends = list(accumulate(sizes, lambda end, size: end + 1 + size))  # line feeds left out
        self.line_starts = [0, *(end + 1 for end in self.line_ends[:-1])]
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
