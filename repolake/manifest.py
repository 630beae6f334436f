"""The manifest of a run: what it found, made and left behind. The newest names the lake's current content."""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from repolake.errors import LakeFormatError
from repolake.records import Failure, Header, Repository, RepositorySpec, Snapshot, Stage

LAKE_FORMAT = 1
_STAMP = "%Y%m%dT%H%M%S"


@dataclass(frozen=True, slots=True)
class StageCount:
    """Seconds and counts of one stage of one repository (repository null: the whole run)."""

    stage: Stage
    seconds: float
    repository: str | None = None
    counts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a run found, made and left behind: the newest one names the lake's current content."""

    run_id: str
    sequence: int
    started_at: datetime
    finished_at: datetime | None
    state: str  # running, complete, partial or failed; a dead run stays running
    version: str
    chunking_fingerprint: str
    model: dict[str, Any]
    config: dict[str, Any]
    repositories: tuple[Repository, ...]
    snapshots: tuple[Snapshot, ...]
    specs: tuple[RepositorySpec, ...] = ()  # how each repository was asked for, each with its name
    stages: tuple[StageCount, ...] = ()
    failures: tuple[Failure, ...] = ()
    database: str | None = None  # name of the file that was built from exactly this content
    shards: dict[str, int] = field(default_factory=dict)  # bytes of each file that the content rests on
    format: int = LAKE_FORMAT

    @property
    def header(self) -> Header:
        """How the embedded texts name their file."""
        return Header(self.config.get("header", Header.NAME))


def new_run_id(now: datetime, after: str | None = None) -> str:
    """Return a run id that sorts by time, such as `20260102T030405-1a2b3c`, and behind the one before.

    A clock that was set back does not bring the order of runs and databases into disorder.
    """
    stamp = f"{now:{_STAMP}}"
    if after is not None and stamp <= (last := after.partition("-")[0]):
        stamp = f"{datetime.strptime(last, _STAMP) + timedelta(seconds=1):{_STAMP}}"  # noqa: DTZ007
    return f"{stamp}-{uuid.uuid4().hex[:6]}"


def manifest_bytes(manifest: Manifest) -> bytes:
    """Return the manifest as the JSON that `read_manifest` reads."""
    return json.dumps(asdict(manifest), default=_to_json, indent=1, ensure_ascii=False).encode()


def _to_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest, or None when the file is no manifest or is gone.

    Raises LakeFormatError for one written by a newer repolake.
    """
    try:
        raw = json.loads(path.read_bytes())
        found = int(raw["format"])
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return None
    if found > LAKE_FORMAT:
        raise LakeFormatError(str(path), found, LAKE_FORMAT)
    try:
        return _manifest(raw, found)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _manifest(raw: dict[str, Any], found: int) -> Manifest:
    return Manifest(
        run_id=raw["run_id"],
        sequence=raw["sequence"],
        started_at=datetime.fromisoformat(raw["started_at"]),
        finished_at=_time(raw["finished_at"]),
        state=raw["state"],
        version=raw["version"],
        chunking_fingerprint=raw["chunking_fingerprint"],
        model=raw["model"],
        config=raw["config"],
        repositories=tuple(
            Repository(**{**row, "indexed_at": datetime.fromisoformat(row["indexed_at"])})
            for row in raw["repositories"]
        ),
        snapshots=tuple(
            Snapshot(
                **{
                    **row,
                    "indexed_at": datetime.fromisoformat(row["indexed_at"]),
                    "committed_at": _time(row["committed_at"]),
                }
            )
            for row in raw["snapshots"]
        ),
        specs=tuple(_spec(row) for row in raw["specs"]),
        stages=tuple(StageCount(**{**row, "stage": Stage(row["stage"])}) for row in raw["stages"]),
        failures=tuple(Failure(**{**row, "stage": Stage(row["stage"])}) for row in raw["failures"]),
        database=raw["database"],
        shards=dict(raw.get("shards", {})),  # lakes of before have none
        format=found,
    )


def _spec(row: dict[str, Any]) -> RepositorySpec:
    lists = {name: tuple(row[name]) for name in ("refs", "include", "exclude")}
    return RepositorySpec(**{**row, **lists})


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
