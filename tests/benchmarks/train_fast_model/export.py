"""Write a trained table as the shipped model: int8 with one scale a token, checksums."""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import packages
from safetensors.numpy import save_file
from tokenizers import Tokenizer


def quantize(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (int8 vectors, one float32 scale a token) with vectors = int8 * scale, about."""
    scales = np.abs(vectors).max(axis=1) / 127
    scales[scales == 0] = 1
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32)


def export(
    folder: Path, tokenizer: Tokenizer, vectors: np.ndarray, options: argparse.Namespace, **facts: object
) -> None:
    """Write the model as a sentence-transformers folder: int8 `embeddings` with a scale a token as `weights`.

    sentence-transformers and model2vec fold such weights into the table when they load it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table, scales = quantize(vectors)
    save_file({"embeddings": table, "weights": scales}, folder / "model.safetensors")
    (folder / "model.safetensors").chmod(0o644)  # safetensors writes for the owner alone
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"},
        {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]
    (folder / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", encoding="utf-8")
    config = {
        "name": "repolake-fast",
        "dimension": table.shape[1],
        "vocabulary_size": table.shape[0],
        "training": {
            key: value for key, value in sorted(vars(options).items()) if not isinstance(value, Path)
        },
        **facts,
        "packages_sha256": packages.sha256(packages.TABLE),
        "pairs_sha256": file_sha256(options.pairs),
        "weights_sha256": packages.sha256(folder / "model.safetensors"),
        "tokenizer_sha256": packages.sha256(folder / "tokenizer.json"),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def file_sha256(path: Path) -> str:
    """Return the hexadecimal sha256 of a large file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
