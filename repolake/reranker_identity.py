"""Which cross-encoder reranks, known exactly and without importing torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from repolake.errors import ModelError, RerankerError
from repolake.model_config import find_tokenizer, read_max_tokens, read_modules
from repolake.model_fingerprint import hash_files
from repolake.model_source import find_model, has_weights

FINGERPRINT_PREFIX = 12
# Of these sentence-transformers makes a cross-encoder: by a head that scores, or by the answers yes and no.
SCORING_ARCHITECTURES = ("ForSequenceClassification", "ForCausalLM")


@dataclass(frozen=True, slots=True)
class RerankerIdentity:
    """Everything that decides a cross-encoder's scores. `fingerprint` is over all its files.

    `max_tokens` is what it reads of query and passage together, null without a limit.
    """

    name: str
    revision: str | None
    fingerprint: str
    path: str
    max_tokens: int | None
    tokenizer_file: Path
    trust_remote_code: bool

    @property
    def label(self) -> str:
        """Name and start of the fingerprint, for people: `cross-encoder/name@1a2b3c4d5e6f`."""
        return f"{self.name}@{self.fingerprint[:FINGERPRINT_PREFIX]}"


def resolve_reranker(
    name: str, *, trust_remote_code: bool = False, cache_dir: Path | None = None
) -> RerankerIdentity:
    """Return the identity of a cross-encoder by name or path, reading its files but not torch.

    Raises RerankerError when it is neither here nor reachable, or no cross-encoder: one without a head that
    scores pairs would load with random numbers for it and order by chance.
    """
    try:
        source = find_model(name, None)
        folder = source.folder
        modules = read_modules(source.name, folder)
        max_tokens = read_max_tokens(source.name, modules)
        tokenizer_file = find_tokenizer(source.name, folder, modules)
    except ModelError as error:
        raise RerankerError(error.model, error.reason) from error
    architecture = _architecture(source.name, modules[0].folder)
    if not architecture.endswith(SCORING_ARCHITECTURES):
        raise RerankerError(
            source.name, f"it is no cross-encoder: its config.json names {architecture or 'no architecture'}"
        )
    if not has_weights(folder):
        raise RerankerError(source.name, f"{folder} holds no weights")
    return RerankerIdentity(
        name=source.name,
        revision=source.revision,
        fingerprint=hash_files(folder, cache_dir),
        path=str(folder),
        max_tokens=max_tokens,
        tokenizer_file=tokenizer_file,
        trust_remote_code=trust_remote_code,
    )


def _architecture(name: str, folder: Path) -> str:
    try:
        config = json.loads((folder / "config.json").read_bytes())
    except (OSError, ValueError) as error:
        raise RerankerError(name, f"its config.json cannot be read ({error})") from error
    names = config.get("architectures") if isinstance(config, dict) else None
    return str(names[0]) if isinstance(names, list) and names else ""
