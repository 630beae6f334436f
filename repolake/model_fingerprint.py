"""A hash over every file that can change a model's vectors."""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from repolake.model_source import UNUSED_FILES, WEIGHT_SUFFIXES

HASH_CACHE = "model-hashes.json"
# A file changed twice within one tick of the file system's clock keeps its time: younger ones are not cached.
SETTLED_NANOSECONDS = 2_000_000_000
_TEXT_SUFFIXES = frozenset({".json", ".txt", ".model", ".py", ".jinja", ".tiktoken"})


def model_files(folder: Path) -> list[Path]:
    """Return the files of a model's folder that can change its vectors, sorted by relative path.

    Of weights stored twice (`.safetensors` and `.bin`) only the kind that is loaded counts, so that the
    fingerprint does not depend on what else was downloaded.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if not path.is_file() or any(relative.match(pattern) for pattern in UNUSED_FILES):
            continue
        if any(
            part.startswith(".") or part in {"onnx", "openvino", "__pycache__"} for part in relative.parts
        ):
            continue
        if path.suffix in {".bin", ".pt"} and any(path.parent.glob("*.safetensors")):
            continue
        if path.suffix in WEIGHT_SUFFIXES or path.suffix in _TEXT_SUFFIXES:
            found.append(path)
    return found


def hash_files(folder: Path, cache_dir: Path | None) -> str:
    """Return one SHA-256 over names and contents of `model_files`.

    Weights are hashed whole, once: the hash is kept in `cache_dir` under path, size and time of change. The
    files of the Hugging Face cache bear their hash as their name, which is taken at its word.
    """
    cache = _HashCache(cache_dir)
    total = hashlib.sha256()
    for path in model_files(folder):
        total.update(f"{path.relative_to(folder).as_posix()}\0{cache.hash(path)}\n".encode())
    cache.write()
    return total.hexdigest()


class _HashCache:
    def __init__(self, cache_dir: Path | None) -> None:
        self._path = None if cache_dir is None else cache_dir / HASH_CACHE
        self._known = self._read()
        self._is_changed = False

    def _read(self) -> dict[str, str]:
        if self._path is None:
            return {}
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def hash(self, path: Path) -> str:
        target = path.resolve()
        if path.suffix not in WEIGHT_SUFFIXES:
            return hashlib.sha256(target.read_bytes()).hexdigest()
        if target.parent.name == "blobs" and len(target.name) == 64:
            return target.name
        state = target.stat()
        key = f"{target}|{state.st_size}|{state.st_mtime_ns}|{state.st_ino}"
        if key not in self._known:
            with target.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if time.time_ns() - state.st_mtime_ns < SETTLED_NANOSECONDS:
                return digest
            self._known = {k: v for k, v in self._known.items() if not k.startswith(f"{target}|")}
            self._known[key] = digest
            self._is_changed = True
        return str(self._known[key])

    def write(self) -> None:
        if self._path is None or not self._is_changed:
            return
        temporary = self._path.with_name(f"_{os.getpid()}-{HASH_CACHE}")
        try:
            temporary.write_text(json.dumps(self._known, indent=1), encoding="utf-8")
            temporary.replace(self._path)
        except OSError:
            # A reader of a data folder that it may not write hashes again next time; nothing else is lost.
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
