"""An index beside the published one, cut or embedded another way, that shares the lake's shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from repolake import pipeline
from repolake.errors import IndexMissingError
from repolake.lake import SIDE_FOLDER, Lake
from repolake.manifest import Manifest
from repolake.progress import Progress
from repolake.records import Chunker, Header, RepositorySpec
from repolake.settings import Settings

SHARED_FOLDERS = ("lake/snapshots", "lake/chunks", "lake/embeddings", "lake/purged", "mirrors")


def build_side_index(
    data_dir: Path,
    *,
    chunker: Chunker,
    model: str,
    chunk_tokens: int,
    settings: Settings,
    progress: Progress,
    header: Header = Header.NAME,
) -> Path:
    """Return the data folder of a side index of the published content, built or brought up to date.

    It lies in `data_dir/evaluate/<chunker>-<model>-<chunk_tokens>`, with `-folders` if the header has them:
    manifests and database are its own, while snapshots, chunks and embeddings are links to the lake's, so
    that nothing is cut or embedded twice.

    Raises IndexMissingError when nothing has been indexed yet, and what `pipeline.index` raises.
    """
    manifest = Lake(data_dir).latest_manifest()
    if manifest is None or not manifest.repositories:
        raise IndexMissingError(str(data_dir))
    name = f"{chunker.value}-{_file_name(model)}-{chunk_tokens}"
    if header is not Header.NAME:
        name += f"-{header.value}"
    side_dir = data_dir / SIDE_FOLDER / name
    _share_lake(data_dir, side_dir)
    side_settings = settings.model_copy(
        update={"data_dir": side_dir, "model": model, "chunk_tokens": chunk_tokens}
    )
    # `model` counts as given, or the side index would keep the one of its last run.
    side_settings.model_fields_set.update({"model", "chunk_tokens"})
    pipeline.index(
        _published_specs(manifest),
        settings=side_settings,
        chunker=chunker,
        header=header,
        is_whole_list=True,
        allow_shrink=True,
        progress=progress,
    )
    return side_dir


def _published_specs(manifest: Manifest) -> Sequence[RepositorySpec]:
    """Return how to read the published commit of each default ref again, wherever its branch is now."""
    specs = []
    for spec in manifest.specs:
        repository = next(known for known in manifest.repositories if known.repository == spec.name)
        snapshot = next(
            known
            for known in manifest.snapshots
            if known.is_current and (known.repository, known.ref) == (spec.name, repository.default_ref)
        )
        is_commit = snapshot.tree is not None and not spec.worktree
        specs.append(replace(spec, refs=(snapshot.commit,) if is_commit else spec.refs))
    return specs


def _share_lake(data_dir: Path, side_dir: Path) -> None:
    for name in SHARED_FOLDERS:
        shared, link = data_dir / name, side_dir / name
        shared.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(shared.resolve())


def _file_name(model: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in model)
