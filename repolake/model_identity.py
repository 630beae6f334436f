"""Which model makes the vectors, known exactly and without importing torch."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repolake.errors import ModelError
from repolake.model_config import (
    OWN_MODULES,
    Module,
    find_tokenizer,
    is_static,
    read_dimension,
    read_max_tokens,
    read_modules,
    read_pooling,
    read_prompts,
)
from repolake.model_fingerprint import hash_files
from repolake.model_source import find_model, has_weights
from repolake.settings import Settings

# Raise it when the same files come to mean other vectors, for instance by another normalisation.
EMBEDDING_VERSION = 1
FINGERPRINT_PREFIX = 12
UNTRUSTED = (
    "it brings code of its own, which runs only if REPOLAKE_TRUST_REMOTE_CODE is set to the model's name"
)


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Everything that decides a model's vectors. Small, picklable, equal if and only if the vectors are.

    `fingerprint` is over name, revision, the files (weights, tokenizer, configuration), pooling, prompts,
    limit and dimension; vectors of different fingerprints never meet. `model_id` is safe as a folder name.
    All vectors are stored at unit length, whatever the model says, so the dot product is the cosine.
    """

    model_id: str
    name: str
    revision: str | None
    fingerprint: str
    path: str
    is_static: bool
    dimension: int
    native_dimension: int
    max_tokens: int | None
    pooling: str
    query_prompt: str
    document_prompt: str
    document_prompt_token_count: int
    tokenizer_file: Path
    trust_remote_code: bool

    @property
    def label(self) -> str:
        """Name and start of the fingerprint, for people: `minilm@1a2b3c4d5e6f`."""
        return f"{self.name}@{self.fingerprint[:FINGERPRINT_PREFIX]}"

    def token_budget(self, chunk_tokens: int) -> int:
        """Return the most tokens of one embedded text: the setting, or what the model reads if less."""
        if self.max_tokens is None:
            return chunk_tokens
        return min(chunk_tokens, self.max_tokens - self.document_prompt_token_count)


def model_from_settings(settings: Settings) -> ModelIdentity:
    """Return the identity of the model that the settings name.

    Raises ModelError, or ModelNotFoundError within seconds, as `resolve_model` does.
    """
    return resolve_model(
        settings.model,
        revision=settings.model_revision or None,
        dimension=settings.dimension or None,
        trust_remote_code=settings.trust_remote_code == settings.model,
        cache_dir=settings.data_dir,
    )


def resolve_model(
    name: str,
    *,
    revision: str | None = None,
    dimension: int | None = None,
    trust_remote_code: bool = False,
    cache_dir: Path | None = None,
) -> ModelIdentity:
    """Return the identity of a model by name or path, reading configuration and weights but not torch.

    `dimension` truncates the vectors (Matryoshka); `cache_dir` keeps the hashes of large weights.

    Raises ModelNotFoundError when the model is neither here nor reachable, ModelError when its files do
    not make a usable model, bring code that is not trusted, or have fewer dimensions than asked for.
    """
    source = find_model(name, revision)
    folder = source.folder
    modules = read_modules(source.name, folder)
    _refuse_untrusted_code(source.name, modules, trust_remote_code=trust_remote_code)
    if not has_weights(folder):
        raise ModelError(source.name, f"{folder} holds no weights")
    native = read_dimension(source.name, modules)
    if dimension is not None and dimension > native:
        raise ModelError(
            source.name, f"it has {native} dimensions, fewer than REPOLAKE_DIMENSION={dimension}"
        )
    prompts = read_prompts(source.name, folder)
    facts: dict[str, Any] = {
        "revision": source.revision,
        "is_static": is_static(modules),
        "dimension": dimension or native,
        "max_tokens": read_max_tokens(source.name, modules),
        "pooling": read_pooling(source.name, modules),
        "query_prompt": prompts.query,
        "document_prompt": prompts.document,
    }
    short = _short_name(source.name)
    content = {"version": EMBEDDING_VERSION, "name": short, "files": hash_files(folder, cache_dir), **facts}
    fingerprint = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    tokenizer_file = find_tokenizer(source.name, folder, modules)
    return ModelIdentity(
        model_id=f"{short}-{fingerprint[:FINGERPRINT_PREFIX]}",
        name=source.name,
        fingerprint=fingerprint,
        path=str(folder),
        native_dimension=native,
        document_prompt_token_count=_token_count(tokenizer_file, prompts.document),
        tokenizer_file=tokenizer_file,
        trust_remote_code=trust_remote_code,
        **facts,
    )


def _refuse_untrusted_code(name: str, modules: list[Module], *, trust_remote_code: bool) -> None:
    own = [module.type for module in modules if not module.type.startswith(OWN_MODULES)]
    if own and not trust_remote_code:
        raise ModelError(name, f"{UNTRUSTED} ({own[0]})")


def _short_name(name: str) -> str:
    """Return the last part of a name or path, fit for a folder name on any file system."""
    last = name.rstrip("/").rsplit("/", 1)[-1].lower()
    return re.sub(r"[^a-z0-9._-]+", "-", last).strip("-.")[:64] or "model"


def _token_count(tokenizer_file: Path, text: str) -> int:
    if not text:
        return 0
    from tokenizers import Tokenizer  # noqa: PLC0415  # most models have no prompt to count

    return len(Tokenizer.from_file(str(tokenizer_file)).encode(text, add_special_tokens=False).ids)
