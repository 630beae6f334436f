"""What the stages of a run gave, and the accounts made of it: failures, counts, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from repolake.content import Content
from repolake.errors import SourceError, UnknownNameError
from repolake.manifest import StageCount
from repolake.records import (
    WHOLE_REPOSITORY,
    ChunkReport,
    EmbedReport,
    Failure,
    LoadReport,
    RepositoryFailure,
    RepositoryReport,
    RepositorySpec,
    ScanReport,
    Stage,
)

StageReport = ScanReport | ChunkReport | EmbedReport | LoadReport


@dataclass
class Outcome:
    """The reports of a run's stages so far; `chunked` and `embedded` are by snapshot id.

    `gone_refs` has (repository, ref) of each known ref that its repository no longer has.
    """

    scans: list[tuple[RepositorySpec, ScanReport]] = field(default_factory=list)
    failed: list[RepositoryFailure] = field(default_factory=list)
    gone_refs: list[tuple[str, str]] = field(default_factory=list)
    chunked: dict[str, ChunkReport] = field(default_factory=dict)
    embedded: dict[str, EmbedReport] = field(default_factory=dict)
    loaded: LoadReport | None = None

    @property
    def has_made_something(self) -> bool:
        """Whether a chunk or an embedding was made."""
        return any(report.chunks_new for report in self.chunked.values()) or any(
            report.embeddings_new for report in self.embedded.values()
        )

    def scans_to_remember(self) -> list[tuple[RepositorySpec, ScanReport]]:
        """Return the scans, with specifications that name no ref that never was there."""
        unknown = {
            (failure.spec, failure.ref)
            for failure in self.failed
            if isinstance(failure.error, UnknownNameError)
        }
        return [
            (replace(spec, refs=tuple(ref for ref in spec.refs if (spec, ref) not in unknown)), report)
            for spec, report in self.scans
        ]

    def failures(self, before: Content) -> tuple[Failure, ...]:
        """Return what failed, each once: whole repositories first, then files."""
        found = []
        for failure in self.failed:
            known = before.repository_at(failure.spec.location, failure.spec.name)
            name = known.repository if known else failure.spec.name or failure.spec.location
            reason = str(failure.error)
            if known and isinstance(failure.error, SourceError):
                refs = before.current_refs(known.repository)
                if (failure.ref or known.default_ref) in refs:
                    reason += "; its last snapshot stays in the index"
            found.append(Failure(name, WHOLE_REPOSITORY, failure.stage, reason))
        for _, report in self.scans:
            found.extend(report.failures)
        for chunked in self.chunked.values():
            found.extend(chunked.failures)
        for embedded in self.embedded.values():
            found.extend(embedded.failures)
        return tuple(dict.fromkeys(found))

    def stage_counts(self) -> tuple[StageCount, ...]:
        """Return seconds and counts per repository and stage, and of the load of all of them."""
        reports: dict[tuple[str | None, Stage], list[StageReport]] = {}
        for repository, stage, report in self._reports():
            reports.setdefault((repository, stage), []).append(report)
        return tuple(
            StageCount(stage, sum(report.seconds for report in group), repository, _numbers(group))
            for (repository, stage), group in reports.items()
        )

    def _reports(self) -> Iterator[tuple[str | None, Stage, StageReport]]:
        for _, report in self.scans:
            repository = report.snapshot.repository
            yield repository, Stage.SCAN, report
            if chunked := self.chunked.get(report.snapshot.snapshot_id):
                yield repository, Stage.CHUNK, chunked
            if embedded := self.embedded.get(report.snapshot.snapshot_id):
                yield repository, Stage.EMBED, embedded
        if self.loaded is not None:
            yield None, Stage.LOAD, self.loaded

    def repository_reports(
        self, failures: tuple[Failure, ...], chunk_counts: Mapping[str, int]
    ) -> Iterator[RepositoryReport]:
        """Yield one report for each ref that was read, then one for each repository that failed.

        `chunk_counts` is the number of published chunks by snapshot id.
        """
        for _, report in self.scans:
            snapshot = report.snapshot
            chunked = self.chunked.get(snapshot.snapshot_id)
            embedded = self.embedded.get(snapshot.snapshot_id)
            parts = [part.failures for part in (report, chunked, embedded) if part is not None]
            yield RepositoryReport(
                repository=snapshot.repository,
                ref=snapshot.ref,
                commit=snapshot.commit,
                files_indexed=report.files_indexed,
                files_skipped=report.files_skipped,
                chunks=chunk_counts.get(snapshot.snapshot_id, 0),
                chunks_new=chunked.chunks_new if chunked else 0,
                embeddings_new=embedded.embeddings_new if embedded else 0,
                embeddings_reused=embedded.embeddings_reused if embedded else 0,
                failures=tuple(failure for part in parts for failure in part),
            )
        for failure in failures:
            if failure.path == WHOLE_REPOSITORY:
                yield RepositoryReport(failure.repository, None, None, failures=(failure,))

    def notes(self) -> tuple[str, ...]:
        """Return what people should know although nothing failed, each once."""
        return tuple(dict.fromkeys(self._notes()))

    def _notes(self) -> Iterator[str]:
        for _, report in self.scans:
            yield from report.notes
            if report.files_indexed == 0:
                snapshot = report.snapshot
                yield f"{snapshot.repository} has no indexable file at {snapshot.ref} any more"
        for repository, ref in self.gone_refs:
            yield f"{repository} has no ref {ref} any more: its snapshots leave the index"
        for chunked in self.chunked.values():
            yield from chunked.notes
        for embedded in self.embedded.values():
            yield from embedded.notes


def _numbers(reports: Sequence[StageReport]) -> dict[str, float]:
    """Return the sums of the counts of some reports; those by language or rule are summed, too."""
    found: dict[str, float] = {}
    for report in reports:
        for entry in fields(report):
            value = getattr(report, entry.name)
            if isinstance(value, dict):
                value = sum(value.values())
            if isinstance(value, int) and not isinstance(value, bool):
                found[entry.name] = found.get(entry.name, 0) + value
    return found
