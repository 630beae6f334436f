"""What a lake holds from run to run: repositories, snapshots, failures, and how a run changes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from repolake.errors import RepositoryNameError, UnknownNameError
from repolake.locations import is_gone
from repolake.manifest import Manifest
from repolake.records import Failure, Repository, RepositorySpec, ScanReport, Snapshot


@dataclass(frozen=True, slots=True)
class Content:
    """The repositories, snapshots and standing failures of a lake.

    `specs` has for each repository, by name, how it was asked for last.
    """

    repositories: tuple[Repository, ...] = ()
    specs: tuple[RepositorySpec, ...] = ()
    snapshots: tuple[Snapshot, ...] = ()
    failures: tuple[Failure, ...] = ()

    @classmethod
    def of(cls, manifest: Manifest | None) -> Content:
        """Return the content that a manifest names; an empty lake has none."""
        if manifest is None:
            return cls()
        return cls(manifest.repositories, manifest.specs, manifest.snapshots, manifest.failures)

    def repository(self, name: str) -> Repository | None:
        """Return the repository of that name."""
        return next((known for known in self.repositories if known.repository == name), None)

    def repository_at(self, location: str, name: str | None) -> Repository | None:
        """Return the repository of that name or, without a name, the one last read at that location."""
        if name is not None:
            return self.repository(name)
        spellings = {location, _resolved(location)}
        return next((known for known in self.repositories if known.location in spellings), None)

    def snapshot(self, repository: str, ref: str) -> Snapshot | None:
        """Return the current snapshot of a ref."""
        for known in self.snapshots:
            if known.is_current and (known.repository, known.ref) == (repository, ref):
                return known
        return None

    def current_refs(self, repository: str) -> tuple[str, ...]:
        """Return the refs of a repository that have a current snapshot."""
        return tuple(
            known.ref for known in self.snapshots if known.is_current and known.repository == repository
        )

    def holds(self, snapshot_id: str) -> bool:
        """Whether the snapshot has been chunked and embedded by an earlier run, failures apart."""
        return any(known.snapshot_id == snapshot_id for known in self.snapshots)

    def has_failures(self, repository: str) -> bool:
        """Whether a file of the repository failed in the last run that read it."""
        return any(failure.repository == repository for failure in self.failures)

    def spec(self, name: str) -> RepositorySpec:
        """Return how the repository of that name was asked for last."""
        return next(spec for spec in self.specs if spec.name == name)

    def with_reports(
        self, reports: Sequence[tuple[RepositorySpec, ScanReport]], snapshots_per_ref: int
    ) -> Content:
        """Return the content after scans: each scanned snapshot is its ref's current one.

        A ref keeps its `snapshots_per_ref` newest snapshots. Failures of the scanned repositories are
        cleared: the stages that follow name those that still stand.
        """
        scanned = {report.repository.repository for _, report in reports}
        snapshots = self.snapshots
        for _, report in reports:
            snapshots = _with_snapshot(snapshots, report.snapshot, snapshots_per_ref)
        content = replace(
            self,
            snapshots=snapshots,
            failures=tuple(f for f in self.failures if f.repository not in scanned),
        )
        for spec, report in reports:
            content = _with_repository(content, spec, report.repository)
        return content

    def with_snapshots_of(self, is_held: Callable[[str], bool]) -> Content:
        """Return the content without the snapshots whose id is not held; a repository may have none left."""
        return replace(self, snapshots=tuple(s for s in self.snapshots if is_held(s.snapshot_id)))

    def with_failures(self, failures: Iterable[Failure]) -> Content:
        """Return the content with more failures, each named once."""
        return replace(self, failures=tuple(dict.fromkeys((*self.failures, *failures))))

    def without(self, name: str) -> Content:
        """Return the content without a repository.

        Raises UnknownNameError when there is none of that name.
        """
        if self.repository(name) is None:
            names = ", ".join(known.repository for known in self.repositories) or "none"
            raise UnknownNameError(f"the index holds no repository {name!r}", f"it holds: {names}")
        return Content(
            repositories=tuple(known for known in self.repositories if known.repository != name),
            specs=tuple(known for known in self.specs if known.name != name),
            snapshots=tuple(known for known in self.snapshots if known.repository != name),
            failures=tuple(known for known in self.failures if known.repository != name),
        )

    def without_ref(self, name: str, ref: str) -> Content:
        """Return the content without the snapshots of one ref of a repository."""
        return replace(
            self, snapshots=tuple(s for s in self.snapshots if (s.repository, s.ref) != (name, ref))
        )

    def is_same(self, other: Content) -> bool:
        """Whether a database built from either answers alike: all but the times of indexing is equal."""
        return self._key() == other._key()

    def _key(self) -> tuple[object, ...]:
        return (
            {(r.repository, r.location, r.remote_url, r.default_ref) for r in self.repositories},
            {(s.snapshot_id, s.is_current) for s in self.snapshots},
            set(self.failures),
        )


def check_name(found: Repository, known: Repository | None) -> None:
    """Refuse a repository whose name another one bears.

    Two repositories are the same if they share the remote or the root commit; plain folders have
    neither, so they are the same at one location, or if the earlier location is gone (a move).

    Raises RepositoryNameError.
    """
    if known is None or _is_same_repository(found, known):
        return
    raise RepositoryNameError(
        f"{found.location} and {known.location} are different repositories, both named {found.repository}",
        "give one of them another name with --name",
    )


def _is_same_repository(one: Repository, other: Repository) -> bool:
    if one.remote_url is not None and one.remote_url == other.remote_url:
        return True
    if one.root_commit is not None and one.root_commit == other.root_commit:
        return True
    if _has_identity(one) and _has_identity(other):
        return False
    return one.location == other.location or is_gone(other.location)


def _has_identity(repository: Repository) -> bool:
    return repository.remote_url is not None or repository.root_commit is not None


def _with_repository(content: Content, spec: RepositorySpec, found: Repository) -> Content:
    name = found.repository
    refs = content.current_refs(name)
    before = content.repository(name)
    candidates = [found.default_ref, *refs]
    if before is not None:
        # Refs that are named once do not make another branch the default one.
        candidates.insert(0 if spec.refs else 1, before.default_ref)
    entry = replace(found, default_ref=next(ref for ref in candidates if ref in refs))
    others = tuple(known for known in content.repositories if known.repository != name)
    named = replace(spec, location=found.location, name=name)
    other_specs = tuple(known for known in content.specs if known.name != name)
    return replace(
        content,
        repositories=tuple(sorted((*others, entry), key=lambda repository: repository.repository)),
        specs=tuple(sorted((*other_specs, named), key=lambda known: known.name or "")),
    )


def _with_snapshot(
    snapshots: tuple[Snapshot, ...], found: Snapshot, snapshots_per_ref: int
) -> tuple[Snapshot, ...]:
    of_ref = [s for s in snapshots if (s.repository, s.ref) == (found.repository, found.ref)]
    others = [s for s in snapshots if (s.repository, s.ref) != (found.repository, found.ref)]
    known = next((s for s in of_ref if s.snapshot_id == found.snapshot_id), found)
    older = sorted(
        (s for s in of_ref if s.snapshot_id != found.snapshot_id), key=lambda s: s.indexed_at, reverse=True
    )
    kept = [replace(known, is_current=True), *(replace(s, is_current=False) for s in older)]
    merged = [*others, *kept[:snapshots_per_ref]]
    return tuple(sorted(merged, key=lambda s: (s.repository, s.ref, not s.is_current, s.snapshot_id)))


def _resolved(location: str) -> str:
    return os.path.realpath(location) if "://" not in location else location
