"""Which model makes the vectors, known exactly and without importing torch."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from repolake.errors import ModelError
from repolake.model_fingerprint import hash_files
from repolake.model_prompts import NO_PROMPTS, Prompts, prompts_by_convention
from repolake.model_source import find_model, has_weights
from repolake.settings import Settings

# Raise it when the same files come to mean other vectors, for instance by another normalisation.
EMBEDDING_VERSION = 1
FINGERPRINT_PREFIX = 12
STATIC_MODULE = "StaticEmbedding"
_DOCUMENT_NAMES = ("document", "passage", "corpus")
_DIMENSION_KEYS = (
    "out_features",
    "embedding_dimension",
    "word_embedding_dimension",
    "embedding_dim",
    "hidden_size",
)
_NO_LIMIT = 10**9  # tokenizers write 10^30 where they mean "none"


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
    modules = _modules(source.name, folder)
    _refuse_untrusted_code(source.name, modules, trust_remote_code=trust_remote_code)
    if not has_weights(folder):
        raise ModelError(source.name, f"{folder} holds no weights")
    first = folder / modules[0]["path"]
    native = _dimension(source.name, folder, modules)
    if dimension is not None and dimension > native:
        raise ModelError(
            source.name, f"it has {native} dimensions, fewer than REPOLAKE_DIMENSION={dimension}"
        )
    is_static = modules[0]["type"].endswith(f".{STATIC_MODULE}")
    prompts = _prompts(source.name, folder)
    facts: dict[str, Any] = {
        "revision": source.revision,
        "is_static": is_static,
        "dimension": dimension or native,
        "max_tokens": None if is_static else _max_tokens(first),
        "pooling": "mean" if is_static else _pooling(folder, modules),
        "query_prompt": prompts.query,
        "document_prompt": prompts.document,
    }
    short = (
        re.sub(r"[^a-z0-9._-]+", "-", source.name.rstrip("/").rsplit("/", 1)[-1].lower()).strip("-.")
        or "model"
    )
    content = {"version": EMBEDDING_VERSION, "name": short, "files": hash_files(folder, cache_dir), **facts}
    fingerprint = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    tokenizer_file = _tokenizer_file(source.name, folder, first)
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


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ModelError(str(path.parent), f"{path.name} is no JSON ({error})") from error


def _modules(name: str, folder: Path) -> list[dict[str, str]]:
    """Return the model's modules in order; a plain transformer gets mean pooling, as when it is loaded."""
    modules = _read_json(folder / "modules.json")
    if not modules:
        return [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    if not isinstance(modules, list) or not all({"path", "type"} <= set(module) for module in modules):
        raise ModelError(name, "its modules.json is no list of modules with path and type")
    return modules


def _refuse_untrusted_code(name: str, modules: list[dict[str, str]], *, trust_remote_code: bool) -> None:
    own = [module["type"] for module in modules if not module["type"].startswith("sentence_transformers.")]
    if own and not trust_remote_code:
        raise ModelError(
            name,
            f"it brings code of its own ({own[0]}), which runs only if REPOLAKE_TRUST_REMOTE_CODE is set to "
            "the model's name",
        )


def _dimension(name: str, folder: Path, modules: list[dict[str, str]]) -> int:
    for module in reversed(modules):
        config = _read_json(folder / module["path"] / "config.json")
        for key in _DIMENSION_KEYS:
            if isinstance(config.get(key), int):
                return int(config[key]) * (
                    _pooling_count(config) if key.startswith(("word", "embedding_")) else 1
                )
        if module["type"].endswith(f".{STATIC_MODULE}"):
            return _table_width(name, folder / module["path"])
    raise ModelError(name, "none of its configuration files tells the dimension of its vectors")


def _table_width(name: str, folder: Path) -> int:
    from safetensors import safe_open  # noqa: PLC0415  # only static models need it

    path = folder / "model.safetensors"
    if not path.is_file():
        raise ModelError(name, f"{path} is missing")
    with safe_open(path, framework="numpy") as tensors:
        for key in ("embedding.weight", "embeddings"):
            if key in tensors.keys():  # noqa: SIM118  # not a dictionary
                return int(tensors.get_slice(key).get_shape()[1])
    raise ModelError(name, f"{path} holds no table of token vectors")


def _pooling_modes(config: dict[str, Any]) -> list[str]:
    mode = config.get("pooling_mode")
    if mode is not None:
        return [mode] if isinstance(mode, str) else list(mode)
    old = [
        key.removeprefix("pooling_mode_")
        for key, value in sorted(config.items())
        if key.startswith("pooling_mode_") and value
    ]
    return old or ["mean_tokens"]


def _pooling_count(config: dict[str, Any]) -> int:
    return len(_pooling_modes(config)) if any(key.startswith("pooling_mode") for key in config) else 1


def _pooling(folder: Path, modules: list[dict[str, str]]) -> str:
    for module in modules:
        if module["type"].endswith(".Pooling"):
            modes = _pooling_modes(_read_json(folder / module["path"] / "config.json"))
            return "+".join(mode.removesuffix("_tokens").removesuffix("_token") for mode in modes)
    return "mean" if len(modules) == 1 else "own"


def _max_tokens(first: Path) -> int | None:
    """Return what the model reads of a text: its own limit, else the lower of tokenizer's and positions'."""
    for config_name in (
        "sentence_bert_config.json",
        "sentence_roberta_config.json",
        "sentence_mpnet_config.json",
    ):
        limit = _read_json(first / config_name).get("max_seq_length")
        if isinstance(limit, int):
            return limit
    limits = [
        _read_json(first / "tokenizer_config.json").get("model_max_length"),
        _read_json(first / "config.json").get("max_position_embeddings"),
    ]
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT]
    return min(known) if known else None


def _prompts(name: str, folder: Path) -> Prompts:
    """Return the prompts that the model declares, else those of its card.

    A model saved by sentence-transformers 5 declares two empty ones where nobody gave any: that is silence.
    """
    config = _read_json(folder / "config_sentence_transformers.json")
    declared = {key: text for key, text in (config.get("prompts") or {}).items() if text}
    if not declared:
        return prompts_by_convention(name)
    default = declared.get(config.get("default_prompt_name") or "", "")
    document = next((declared[key] for key in _DOCUMENT_NAMES if key in declared), default)
    found = Prompts(declared.get("query", default), document)
    return found if any(found) else NO_PROMPTS


def _tokenizer_file(name: str, folder: Path, first: Path) -> Path:
    for path in (first / "tokenizer.json", folder / "tokenizer.json"):
        if path.is_file():
            return path
    raise ModelError(
        name,
        "it has no tokenizer.json, without which tokens cannot be counted; load its tokenizer with "
        "transformers.AutoTokenizer and save it into the model's folder",
    )


def _token_count(tokenizer_file: Path, text: str) -> int:
    if not text:
        return 0
    from tokenizers import Tokenizer  # noqa: PLC0415  # most models have no prompt to count

    return len(Tokenizer.from_file(str(tokenizer_file)).encode(text, add_special_tokens=False).ids)
