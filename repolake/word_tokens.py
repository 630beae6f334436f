"""Token ids of plain text by a cache of words: what BERT's WordPiece gives, several times faster.

BERT's tokenizers lower-case a text, cut it at white space and punctuation, and cut each word into pieces
without looking at its neighbours. Source code repeats its words, so a dictionary of words does the same.
"""

from __future__ import annotations

import re
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

MAX_CACHED_WORDS = 500_000
_WORDS = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
# Everything but printable ASCII, white space and the ellipsis of shortened file names. BERT decomposes
# letters with accents and drops control characters, joining what stands around: that takes the long way.
_OTHER = re.compile(r"[^\t\n\r -~\u2026]")


class WordTokens(dict[str, tuple[int, ...]]):
    """Cache of the token ids of single words; `ids` answers for a whole text."""

    def __init__(self, tokenizer: Tokenizer, special: tuple[str, ...]) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._special = special

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> WordTokens | None:
        """Return the cache for a tokenizer, or None where it does not cut words as BERT does."""
        normalizer, added = tokenizer.normalizer, tokenizer.get_added_tokens_decoder().values()
        is_bert = (
            isinstance(tokenizer.model, WordPiece)
            and isinstance(tokenizer.pre_tokenizer, BertPreTokenizer)
            and isinstance(normalizer, BertNormalizer)
            and normalizer.clean_text
            and normalizer.lowercase
            and not any(token.normalized for token in added)
        )
        return cls(tokenizer, tuple(token.content for token in added)) if is_bert else None

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        ids = self[word] = tuple(self._tokenizer.encode(word, add_special_tokens=False).ids)
        return ids

    def ids(self, text: str) -> NDArray[np.int64] | None:
        """Return the token ids of a text, (n,) int64, or None for a text that takes the long way."""
        if _OTHER.search(text) or any(token in text for token in self._special):
            return None
        words = _WORDS.findall(text.lower())
        return np.fromiter(chain.from_iterable(map(self.__getitem__, words)), dtype=np.int64)
