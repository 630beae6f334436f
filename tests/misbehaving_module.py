"""A model's own module that goes wrong where a marker stands in the text.

MARK_NAN, MARK_INF, MARK_ZERO   that row is NaN, infinite, zero
MARK_WIDE                       all rows of the call have one dimension too many
MARK_SHORT                      the call returns one row fewer than asked
MARK_RAISE                      the call raises
MARK_SPREAD                     all rows of the call are NaN if it has more than one
MARK_SLOW                       the call takes 50 ms a text
MARK_ROUND                      in less than float32 all rows of the call come out the same
A file `fail_first.log` in the model's folder holds how many further calls raise.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import torch


class Misbehaving(torch.nn.Module):
    def __init__(self, folder: str, dimension: int) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.dimension = dimension
        self.salt = torch.nn.Parameter(torch.zeros(1))

    @classmethod
    def load(cls, model_name_or_path: str, **_: object) -> Misbehaving:
        config = json.loads((Path(model_name_or_path) / "config.json").read_text())
        return cls(model_name_or_path, config["embedding_dimension"])

    def preprocess(self, inputs: list[str], prompt: str | None = None, **_: object) -> dict[str, object]:
        return {"texts": [(prompt or "") + text for text in inputs]}

    tokenize = preprocess

    def get_embedding_dimension(self) -> int:
        return self.dimension

    get_sentence_embedding_dimension = get_embedding_dimension

    def save(self, *_: object, **__: object) -> None:
        raise NotImplementedError

    def forward(self, features: dict[str, object], **_: object) -> dict[str, object]:
        texts = features["texts"]
        joined = "\n".join(texts)
        left = self.folder / "fail_first.log"
        if left.exists() and int(left.read_text()) > 0:
            left.write_text(str(int(left.read_text()) - 1))
            raise RuntimeError("injected failure")
        if "MARK_RAISE" in joined:
            raise RuntimeError("poison text in the batch")
        with (self.folder / "calls.log").open("a", encoding="utf-8") as log:
            log.write(json.dumps(texts) + "\n")
        if "MARK_SLOW" in joined:
            time.sleep(0.05 * len(texts))
        rows = torch.stack([self.row(text) for text in texts])
        if "MARK_SPREAD" in joined and len(texts) > 1:
            rows[:] = torch.nan
        if "MARK_ROUND" in joined and self.salt.dtype != torch.float32:
            rows[:] = 1.0
        if "MARK_WIDE" in joined:
            rows = torch.nn.functional.pad(rows, (0, 1))
        if "MARK_SHORT" in joined:
            rows = rows[:-1]
        features["sentence_embedding"] = rows
        return features

    def row(self, text: str) -> torch.Tensor:
        for marker, value in (("MARK_NAN", torch.nan), ("MARK_INF", torch.inf), ("MARK_ZERO", 0.0)):
            if marker in text:
                return torch.full((self.dimension,), value)
        row = torch.zeros(self.dimension)
        for word in text.split():
            digest = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            row[digest % self.dimension] += 1.0 if digest >> 63 else -1.0
        return row + 0.01
