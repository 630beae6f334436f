"""Token ids of many texts in one flat array, and the batches that training draws from them."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

ENCODE_TEXTS = 20_000


class Ragged(NamedTuple):
    """Rows of different length: row i is `flat[starts[i]:starts[i + 1]]`."""

    flat: np.ndarray
    starts: np.ndarray

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens of some rows, end to end, and their lengths."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        ends = np.cumsum(lengths)
        index = (
            np.arange(ends[-1]) - np.repeat(ends - lengths, lengths) + np.repeat(self.starts[rows], lengths)
        )
        return self.flat[index], lengths


def encode(texts: Sequence[str], tokenizer: Tokenizer) -> Ragged:
    """Return the token ids of some texts."""
    parts: list[np.ndarray] = []
    lengths: list[int] = []
    for start in range(0, len(texts), ENCODE_TEXTS):
        for encoding in tokenizer.encode_batch_fast(
            list(texts[start : start + ENCODE_TEXTS]), add_special_tokens=False
        ):
            ids = encoding.ids
            parts.append(np.asarray(ids, dtype=np.int32))
            lengths.append(len(ids))
    return Ragged(np.concatenate(parts), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def join(
    left: tuple[np.ndarray, np.ndarray], right: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Put each row of `right` behind the same row of `left`; both are (tokens, lengths)."""
    rows = np.concatenate([np.repeat(np.arange(len(side[1])), side[1]) for side in (left, right)])
    order = np.argsort(rows, kind="stable")
    return np.concatenate([left[0], right[0]])[order], left[1] + right[1]


def keep(tokens: tuple[np.ndarray, np.ndarray], mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens where the mask is true, at least the first of each row, with the new lengths."""
    flat, lengths = tokens
    firsts = np.cumsum(lengths) - lengths
    mask[firsts[lengths > 0]] = True
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return flat[mask], np.bincount(rows[mask], minlength=len(lengths))


def grouped_batches(
    keys: np.ndarray, batch: int, group: int, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield batches of groups of neighbours in the order of `keys`: each other's hard negatives."""
    order = np.argsort(keys, kind="stable")
    offset = int(random.integers(group))
    groups = [order[start : start + group] for start in range(offset, len(order) - group + 1, group)]
    random.shuffle(groups)
    per_batch = batch // group
    for start in range(0, len(groups) - per_batch + 1, per_batch):
        yield np.concatenate(groups[start : start + per_batch])
