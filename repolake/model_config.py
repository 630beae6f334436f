"""What a model's own files say of it: modules, dimension, limit, pooling, prompts, tokenizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from repolake.errors import ModelError
from repolake.model_prompts import NO_PROMPTS, Prompts, prompts_by_convention

STATIC_MODULE = "StaticEmbedding"
OWN_MODULES = "sentence_transformers."
DEFAULT_MODULE = "sentence_transformers.models.Transformer"
_DOCUMENT_NAMES = ("document", "passage", "corpus")  # the order in which sentence-transformers looks
_POOLED_KEYS = ("embedding_dimension", "word_embedding_dimension")
_DIMENSION_KEYS = ("out_features", *_POOLED_KEYS, "embedding_dim", "hidden_size")
_LIMIT_FILES = tuple(f"sentence_{kind}_config.json" for kind in ("bert", "roberta", "mpnet", "xlm-roberta"))
_NO_LIMIT = 10**9  # tokenizers write 10^30 where they mean "none"


class Module(NamedTuple):
    """One step of a sentence-transformers model: its class and its folder."""

    type: str
    folder: Path


def read_modules(name: str, folder: Path) -> list[Module]:
    """Return the model's modules in order; a plain transformer gets mean pooling, as when it is loaded.

    Raises ModelError when modules.json is none.
    """
    found = _read_json(name, folder / "modules.json")
    if not found:
        return [Module(DEFAULT_MODULE, folder)]
    if not isinstance(found, list) or not all({"path", "type"} <= set(module) for module in found):
        raise ModelError(name, "its modules.json is no list of modules with path and type")
    return [Module(module["type"], folder / module["path"]) for module in found]


def read_dimension(name: str, modules: list[Module]) -> int:
    """Return the dimension of the vectors that the last module gives.

    Raises ModelError when no configuration file tells it.
    """
    for module in reversed(modules):
        config = _read_json(name, module.folder / "config.json")
        for key in _DIMENSION_KEYS:
            if isinstance(config.get(key), int):
                parts = len(_pooling_modes(config)) if key in _POOLED_KEYS and is_pooling(module) else 1
                return int(config[key]) * parts
        if module.type.endswith(f".{STATIC_MODULE}"):
            return _table_width(name, module.folder)
    raise ModelError(name, "none of its configuration files tells the dimension of its vectors")


def read_pooling(name: str, modules: list[Module]) -> str:
    """Return how token vectors become one: `mean`, `cls`, `mean+max`, …; `own` for another way."""
    for module in modules:
        if is_pooling(module):
            modes = _pooling_modes(_read_json(name, module.folder / "config.json"))
            return "+".join(mode.removesuffix("_tokens").removesuffix("_token") for mode in modes)
    return "mean" if modules[0].type == DEFAULT_MODULE or is_static(modules) else "own"


def read_max_tokens(name: str, modules: list[Module]) -> int | None:
    """Return how many tokens of a text the model reads, special tokens included; null: all."""
    if modules[0].type.endswith(f".{STATIC_MODULE}"):
        return None
    first = modules[0].folder
    for file_name in _LIMIT_FILES:
        limit = _read_json(name, first / file_name).get("max_seq_length")
        if isinstance(limit, int):
            return limit
    limits = (
        _read_json(name, first / "tokenizer_config.json").get("model_max_length"),
        _read_json(name, first / "config.json").get("max_position_embeddings"),
    )
    known = [int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT]
    return min(known) if known else None


def read_prompts(name: str, folder: Path) -> Prompts:
    """Return the prompts that the model declares, else those of its card.

    A model saved by sentence-transformers 5 or later declares empty ones where nobody gave any: that counts
    as silence.
    """
    config = _read_json(name, folder / "config_sentence_transformers.json")
    declared = {key: text for key, text in (config.get("prompts") or {}).items() if text}
    if not declared:
        return prompts_by_convention(name)
    default = declared.get(config.get("default_prompt_name") or "", "")
    document = next((declared[key] for key in _DOCUMENT_NAMES if key in declared), default)
    found = Prompts(declared.get("query", default), document)
    return found if any(found) else NO_PROMPTS


def find_tokenizer(name: str, folder: Path, modules: list[Module]) -> Path:
    """Return the file from which the model's tokens can be counted.

    Raises ModelError when there is none.
    """
    for path in (modules[0].folder / "tokenizer.json", folder / "tokenizer.json"):
        if path.is_file():
            return path
    raise ModelError(
        name,
        "it has no tokenizer.json, without which tokens cannot be counted; load its tokenizer with "
        "transformers.AutoTokenizer and save it into the model's folder",
    )


def is_static(modules: list[Module]) -> bool:
    """Whether the model is a table of token vectors and nothing else, so that torch is not needed."""
    kinds = [module.type.rsplit(".", 1)[-1] for module in modules]
    return kinds[0] == STATIC_MODULE and all(kind == "Normalize" for kind in kinds[1:])


def is_pooling(module: Module) -> bool:
    """Whether the module makes one vector of many."""
    return module.type.endswith(".Pooling")


def _read_json(name: str, path: Path) -> Any:  # JSON
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ModelError(name, f"its {path.name} is no JSON ({error})") from error


def _pooling_modes(config: dict[str, Any]) -> list[str]:
    mode = config.get("pooling_mode")
    if mode is not None:
        return [mode] if isinstance(mode, str) else list(mode)
    old = [key.removeprefix("pooling_mode_") for key in sorted(config) if key.startswith("pooling_mode_")]
    return [mode for mode in old if config[f"pooling_mode_{mode}"]] or ["mean_tokens"]


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
