"""Whether the published database and the lake's shards are sound; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from repolake import database, database_files
from repolake.damage import content_shards, find_lost_shards
from repolake.errors import DatabaseError, IndexMissingError, LakeFormatError
from repolake.lake import Lake
from repolake.manifest import Manifest, read_manifest
from repolake.settings import Settings
from repolake.shards import EVALUATION_SCHEMA, is_readable_shard, is_sound_shard


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, and what."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Soundness:
    """What was looked at and what was found; sound without problems."""

    database: str
    shard_count: int
    problems: tuple[Problem, ...]


def check(settings: Settings) -> Soundness:
    """Run `sql/checks` on the published database and read every shard that the latest manifest needs.

    Raises IndexMissingError when nothing was ever published, LakeFormatError for a lake of a newer repolake.
    """
    path = database_files.published_path(settings.data_dir)
    if path is None:
        raise IndexMissingError(str(settings.data_dir))
    lake = Lake(settings.data_dir)
    problems = list(_database_problems(path, settings))
    manifest = _latest_manifest(lake, problems)
    shards = _shards(lake, manifest) if manifest is not None else {}
    if manifest is not None:
        lost = (lake.root / name for name in find_lost_shards(lake, manifest))
        problems += (_missing(path) for path in lost if path not in shards)
    problems += (problem for shard, schema in shards.items() if (problem := _shard_problem(shard, schema)))
    return Soundness(path.name, len(shards), tuple(problems))


def _database_problems(path: Path, settings: Settings) -> list[Problem]:
    try:
        found = database.check(path, memory_limit=settings.search_memory, threads=settings.threads)
    except LakeFormatError as error:  # which says what to do
        return [Problem(path.name, str(error))]
    except DatabaseError as error:
        return [Problem(path.name, f"{error}; `repolake rebuild` makes it anew from the lake")]
    return [Problem(path.name, f"{name}: for example {rows[0]}") for name, rows in found.items()]


def _latest_manifest(lake: Lake, problems: list[Problem]) -> Manifest | None:
    found = {path: read_manifest(path) for path in lake.runs_dir.glob("*.json")}
    problems += (Problem(str(path), "is no manifest") for path, manifest in found.items() if manifest is None)
    manifests = [manifest for manifest in found.values() if manifest is not None]
    if not manifests:
        problems.append(Problem(str(lake.runs_dir), "holds no manifest; `repolake index PATH` begins anew"))
        return None
    return max(manifests, key=lambda manifest: manifest.sequence)


def _shards(lake: Lake, manifest: Manifest) -> dict[Path, pa.Schema]:
    """Return what to look at: the shards of the manifest's content and of the evaluations."""
    evaluations = sorted(lake.evaluations_dir.glob("[!_.]*.parquet"))
    return content_shards(lake, manifest) | dict.fromkeys(evaluations, EVALUATION_SCHEMA)


def _missing(path: Path) -> Problem:
    return Problem(str(path), "is missing; `repolake index` makes it anew")


def _shard_problem(path: Path, schema: pa.Schema) -> Problem | None:
    if not path.is_file():
        return _missing(path)
    if not is_sound_shard(path, schema) or not is_readable_shard(path):
        return Problem(str(path), "is no sound shard; `repolake index` sets it aside and makes its rows anew")
    return None
