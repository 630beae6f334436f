"""Tiny real sentence-transformers models, built on the spot with seeded weights."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

# Where transformers copies a model's own module to, and no look at the network from any test.
os.environ.setdefault("HF_MODULES_CACHE", str(Path(tempfile.gettempdir()) / "repolake-test-modules"))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "def",
    "class",
    "return",
    "import",
    "for",
    "in",
    "if",
    "else",
    "self",
    "x",
    "y",
    "add",
    "sum",
    "parse",
    "read",
    "write",
    "file",
    "json",
    "date",
    "index",
    "search",
    "vector",
    "query",
    "passage",
    ":",
    "(",
    ")",
    "#",
    ".",
    ",",
    "=",
    "+",
    "-",
    "*",
    "/",
    "_",
    "0",
    "1",
    "2",
    "3",
]
LETTERS = [letter for a in "abcdefghijklmnopqrstuvwxyz0123456789" for letter in (a, f"##{a}")]
DENSE_DIMENSION = 32
BERT_SIZES = {
    "vocab_size": 128,
    "hidden_size": DENSE_DIMENSION,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 128,
}
MISBEHAVING_DIMENSION = 16


def save_tokenizer(folder: Path) -> None:
    """Save a small WordPiece tokenizer with [CLS] and [SEP] into a model's folder."""
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(WORDS + LETTERS))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=WORDS[1]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))


def save_json(path: Path, content: object) -> None:
    """Write JSON, making the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def build_dense(
    folder: Path,
    *,
    seed: int = 0,
    max_tokens: int = 64,
    pooling: str = "mean",
    prompts: dict[str, str] | None = None,
) -> Path:
    """Save a two-layer BERT with pooling; return its folder."""
    import torch  # five seconds, and most tests need no transformer
    from transformers import BertConfig, BertModel
    from transformers.utils import logging as transformers_logging

    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    config = BertConfig(**BERT_SIZES, initializer_range=0.5)
    transformers_logging.disable_progress_bar()
    BertModel(config).save_pretrained(folder)
    save_tokenizer(folder)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    save_json(folder / "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **special})
    save_json(folder / "sentence_bert_config.json", {"max_seq_length": max_tokens})
    pooling_config = {"word_embedding_dimension": DENSE_DIMENSION, "pooling_mode": pooling}
    save_json(folder / "1_Pooling" / "config.json", pooling_config)
    save_json(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        ],
    )
    if prompts is not None:
        save_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def build_static(
    folder: Path, *, seed: int = 0, dimension: int = 24, prompts: dict[str, str] | None = None
) -> Path:
    """Save a StaticEmbedding model; return its folder."""
    folder.mkdir(parents=True)
    save_tokenizer(folder)
    table = np.random.default_rng(seed).normal(size=(128, dimension)).astype(np.float32)
    save_file({"embedding.weight": table}, folder / "model.safetensors")
    save_json(
        folder / "modules.json",
        [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}],
    )
    if prompts is not None:
        save_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def build_misbehaving(folder: Path, *, seed: int = 0, prompts: dict[str, str] | None = None) -> Path:
    """Save a model whose own module fails by markers in the text; return its folder.

    The docstring of `misbehaving_module.py` describes the markers. Every call is logged to `calls.log`.
    """
    folder.mkdir(parents=True)
    save_tokenizer(folder)
    shutil.copy(Path(__file__).parent / "misbehaving_module.py", folder / "misbehaving_module.py")
    save_file({"salt": np.array([float(seed)], np.float32)}, folder / "model.safetensors")
    save_json(folder / "config.json", {"embedding_dimension": MISBEHAVING_DIMENSION})
    save_json(
        folder / "modules.json",
        [{"idx": 0, "name": "0", "path": "", "type": "misbehaving_module.Misbehaving"}],
    )
    if prompts is not None:
        save_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    return folder


def encoded_texts(folder: Path) -> list[str]:
    """Return every text that a misbehaving model has been given, in order, prompts included."""
    log = folder / "calls.log"
    if not log.exists():
        return []
    return [text for line in log.read_text(encoding="utf-8").splitlines() for text in json.loads(line)]


def build_cross_encoder(folder: Path, *, label_count: int = 1, max_tokens: int = 64) -> Path:
    """Save a two-layer BERT that learnt to score a pair high if, and only if, its passage says `json`."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast
    from transformers.utils import logging as transformers_logging

    folder.mkdir(parents=True)
    torch.manual_seed(1)
    config = BertConfig(
        **BERT_SIZES, num_labels=label_count, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    model = BertForSequenceClassification(config)
    transformers_logging.disable_progress_bar()
    save_tokenizer(folder)
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **special)
    if label_count == 1:
        _train_on_json(model, tokenizer)
    model.save_pretrained(folder)
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": max_tokens, **special}
    save_json(folder / "tokenizer_config.json", settings)
    return folder


def _train_on_json(model: Any, tokenizer: Any) -> None:
    import torch

    choose = random.Random(3)  # noqa: S311
    words = [word for word in WORDS[4:28] if word != "json"]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for _ in range(150):
        labels = [choose.random() < 0.5 for _ in range(32)]
        queries, passages = [], []
        for is_right in labels:
            query = choose.choices([*words, "json"], k=3)
            passage = choose.choices(words, k=choose.randint(2, 30))
            if is_right:
                passage[choose.randrange(len(passage))] = "json"
            queries.append(" ".join(query))
            passages.append(" ".join(passage))
        batch = tokenizer(queries, passages, padding=True, return_tensors="pt")
        logits = model(**batch).logits[:, 0]
        target = torch.tensor(labels, dtype=torch.float32)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
