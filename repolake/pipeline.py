"""The one composition of the stages: scan, chunk, embed, load under one lock, with a manifest."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from repolake import __version__, database, database_files
from repolake.content import Content
from repolake.damage import find_lost_shards, set_aside_damaged
from repolake.errors import DatabaseError, IndexMissingError, LakeReadError, UsageError
from repolake.executor import Executor, LocalExecutor
from repolake.groups import (
    Context,
    choose_chunking,
    chunk_group,
    embed_group,
    groups_of,
    load_all,
)
from repolake.lake import Lake
from repolake.manifest import Manifest, new_run_id
from repolake.model_identity import model_from_settings
from repolake.outcome import Outcome
from repolake.progress import Progress, SilentProgress
from repolake.publishing import begun, failure_recorded, finished, publish, publish_content, with_content
from repolake.records import (
    WHOLE_REPOSITORY,
    Chunker,
    Failure,
    Header,
    LoadReport,
    Repository,
    RepositoryFailure,
    RepositorySpec,
    RunReport,
    ScanReport,
    Stage,
)
from repolake.scanning import scan_repositories
from repolake.settings import Settings


def index(
    specs: Sequence[RepositorySpec],
    *,
    settings: Settings,
    executor: Executor | None = None,
    chunker: Chunker | None = None,
    header: Header = Header.NAME,
    is_whole_list: bool = False,
    allow_shrink: bool = False,
    wait_seconds: float = 0.0,
    progress: Progress | None = None,
) -> RunReport:
    """Bring the lake and the published database up to date with the repositories; return what was done.

    Without specs every repository that the lake knows is read again. Repositories that are not named
    are kept, or forgotten with `is_whole_list`. A model or chunker that is not given is the lake's own;
    another one re-makes every repository of the lake. `header`: how embedded texts name their file.

    Raises UsageError when nothing could be done, LakeBusyError while another run holds the data folder,
    ModelError, LakeWriteError, PublishError. In each case the published database stays as it was.
    """
    lake = Lake(settings.data_dir)
    with lake.lock(wait_seconds):
        progress = progress or SilentProgress()
        run = _Run.begin(lake, settings, chunker, header, allow_shrink=allow_shrink, progress=progress)
        run.executor = executor or run.executor
        with failure_recorded(lake, run.context.run_id):
            return run.index(specs, is_whole_list)


def remove(
    name: str, *, settings: Settings, wait_seconds: float = 0.0, progress: Progress | None = None
) -> LoadReport:
    """Forget one repository: publish a database without it. Its chunks leave the lake at gc.

    Raises UnknownNameError when the index holds no repository of that name, LakeBusyError,
    LakeWriteError, PublishError; the published database then stays as it was.
    """
    lake = Lake(settings.data_dir)
    with lake.lock(wait_seconds):
        previous = lake.latest_manifest()
        if previous is None:
            raise IndexMissingError(str(settings.data_dir))
        content = Content.of(previous).without(name)
        return publish_content(
            previous, content, lake=lake, settings=settings, progress=progress or SilentProgress()
        )


@dataclass
class _Run:
    """One run: what it found at its start, and what its stages gave so far."""

    context: Context
    started_at: datetime
    started: float
    previous: Manifest | None
    before: Content
    executor: Executor = field(default_factory=LocalExecutor)
    forgotten: set[str] = field(default_factory=set)
    forgotten_refs: set[tuple[str, str]] = field(default_factory=set)
    outcome: Outcome = field(default_factory=Outcome)
    seconds: dict[Stage, float] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)  # shards that were damaged or gone, by path below the lake

    @classmethod
    def begin(
        cls,
        lake: Lake,
        settings: Settings,
        chunker: Chunker | None,
        header: Header,
        *,
        allow_shrink: bool,
        progress: Progress,
    ) -> _Run:
        """Read the lake's state and find the model, so that a wrong model costs no scan."""
        now, started = datetime.now(UTC), time.monotonic()
        previous = lake.latest_manifest()
        if previous is not None and previous.repositories:
            chunker = chunker or Chunker(previous.config["chunker"])
            if "model" not in settings.model_fields_set:
                settings = settings.model_copy(update={"model": previous.model["name"]})
        model = model_from_settings(settings)
        context = Context(
            lake=lake,
            run_id=new_run_id(now, previous.run_id if previous else None),
            settings=settings,
            chunking=choose_chunking(model, settings, chunker or Chunker.AST, header),
            model=model,
            allow_shrink=allow_shrink,
            progress=progress,
        )
        return cls(context, now, started, previous, Content.of(previous))

    def index(self, specs: Sequence[RepositorySpec], is_whole_list: bool) -> RunReport:
        """Run the four stages; once more if the lake turns out to be damaged, to make again what is lost."""
        lake = self.context.lake
        if self.previous is not None:
            lost = find_lost_shards(lake, self.previous)
            self.damaged = {*lost, *set_aside_damaged(lake, self.previous, is_thorough=False)}
        try:
            return self._index(specs, is_whole_list)
        except (DatabaseError, LakeReadError) as error:
            found = set_aside_damaged(lake, self._manifest(Content()), is_thorough=True)
            if isinstance(error, LakeReadError):
                found += tuple(path.removeprefix(f"{lake.root}/") for path in error.paths)
            if not found:
                raise
        self.damaged.update(found)
        self.outcome, self.forgotten, self.forgotten_refs = Outcome(), set(), set()
        return self._index(specs, is_whole_list)

    def _index(self, specs: Sequence[RepositorySpec], is_whole_list: bool) -> RunReport:
        wanted = tuple(dict.fromkeys(specs)) or self.before.specs
        if not wanted:
            raise UsageError("nothing to index", "name a PATH or URL")
        with self._timed(Stage.SCAN):
            self._scan(wanted, has_all_refs=not specs)
            self._raise_if_all_failed()
            if is_whole_list:
                self._forget_unlisted()
            if self._is_chunking_new or self.damaged:
                self._scan_the_others()
        missing = [(spec, report) for spec, report in self.outcome.scans if self._is_work_left(report)]
        if missing or self._is_model_new:
            self._write_first_manifest()
        with self._timed(Stage.CHUNK):
            self._chunk(missing)
            self._raise_if_all_failed()
            self._raise_if_gaps()
        content = self._content()
        with self._timed(Stage.EMBED):
            self._embed(content)
        return self.publish(content)

    # scan

    def _scan(self, specs: Sequence[RepositorySpec], *, has_all_refs: bool = False) -> None:
        scan_repositories(
            specs, self.before, self.outcome, self.context, self.executor, has_all_refs=has_all_refs
        )

    def _known(self, spec: RepositorySpec) -> Repository | None:
        return self.before.repository_at(spec.location, spec.name)

    def _forget_unlisted(self) -> None:
        listed = {report.repository.repository for _, report in self.outcome.scans}
        listed |= {
            known.repository for f in self.outcome.failed if (known := self._known(f.spec)) is not None
        }
        self.forgotten = {known.repository for known in self.before.repositories} - listed
        asked = {(report.snapshot.repository, report.snapshot.ref) for _, report in self.outcome.scans}
        read = {name for name, _ in asked}
        asked |= {
            (known.repository, f.ref or known.default_ref)
            for f in self.outcome.failed
            if (known := self._known(f.spec)) is not None
        }
        # Of a repository of which nothing could be read, all stays.
        self.forgotten_refs = {
            (s.repository, s.ref) for s in self.before.snapshots if s.is_current and s.repository in read
        } - asked

    @property
    def _is_chunking_new(self) -> bool:
        return (
            self.previous is not None
            and self.previous.chunking_fingerprint != self.context.chunking.fingerprint
        )

    def _scan_the_others(self) -> None:
        """Scan what was not asked for, too: a database holds chunks of one chunking, and no gaps."""
        done = {(report.snapshot.repository, report.snapshot.ref) for _, report in self.outcome.scans}
        done.update(self.outcome.gone_refs)
        whole, parts = [], []
        for repository in self.before.repositories:
            name = repository.repository
            spec, known = self.before.spec(name), self.before.current_refs(name)
            refs = tuple(r for r in known if (name, r) not in done and (name, r) not in self.forgotten_refs)
            if name in self.forgotten or not refs:
                continue
            if refs == known:
                whole.append(spec)  # as it was asked for, so that a branch that HEAD named is not pinned
            else:
                parts.append(replace(spec, refs=refs))
        self._scan(whole, has_all_refs=True)
        self._scan(parts)
        self._raise_if_gaps()

    def _raise_if_all_failed(self) -> None:
        """Raise the first failure if there is nothing to publish."""
        failed = self.outcome.failed
        if not self.outcome.scans and not any(self._known(failure.spec) for failure in failed):
            raise failed[0].error

    def _raise_if_gaps(self) -> None:
        """Raise UsageError if a repository cannot stay as it was, for want of chunks of the new chunking."""
        for failure in self.outcome.failed if self._is_chunking_new else ():
            if self._known(failure.spec) is not None:
                raise UsageError(
                    f"another model or chunking needs every repository again, but {failure.error}",
                    "bring it back, `repolake remove` it, or keep the model and chunking",
                ) from failure.error

    # chunk and embed

    def _chunk(self, missing: Sequence[tuple[RepositorySpec, ScanReport]]) -> None:
        # One after the other: each uses all cores, and a blob that two groups share is then cut once.
        for group in groups_of(missing):
            outcomes = self.executor.submit(chunk_group, group, self.context).result()
            for (spec, report), outcome in zip(group, outcomes, strict=True):
                if isinstance(outcome, RepositoryFailure):
                    self.outcome.failed.append(outcome)
                    self.outcome.scans.remove((spec, report))
                else:
                    self.outcome.chunked[report.snapshot.snapshot_id] = outcome

    def _is_work_left(self, report: ScanReport) -> bool:
        return (
            not report.is_unchanged
            or self._is_chunking_new
            or bool(self.damaged)
            or not self.before.holds(report.snapshot.snapshot_id)
            or self.before.has_failures(report.snapshot.repository)
        )

    def _embed(self, content: Content) -> None:
        # In the order asked for, so that a branch counts as reused what the main branch has.
        scanned = [report.snapshot for _, report in self.outcome.scans]
        others = [s for s in content.snapshots if s.is_current and s not in scanned]
        snapshots = [
            snapshot
            for snapshot in (*scanned, *others)
            if self._is_model_new or snapshot.snapshot_id in self.outcome.chunked
        ]
        for group in groups_of(snapshots):
            reports = self.executor.submit(embed_group, group, self.context).result()
            for snapshot, report in zip(group, reports, strict=True):
                self.outcome.embedded[snapshot.snapshot_id] = report

    @property
    def _is_model_new(self) -> bool:
        return self.previous is None or self.previous.model["model_id"] != self.context.model.model_id

    # publish

    def _content(self) -> Content:
        """The content after this run's scans."""
        before = self.before
        for name in self.forgotten:
            before = before.without(name)
        for name, ref in (*self.outcome.gone_refs, *self.forgotten_refs):
            before = before.without_ref(name, ref)
        if self._is_chunking_new:  # older snapshots have no chunks under the new fingerprint
            before = replace(before, snapshots=())
        content = before.with_reports(
            self.outcome.scans_to_remember(), self.context.settings.snapshots_per_ref
        )
        if self.damaged:  # an older snapshot, or one of a repository that is gone, cannot be made again
            content = content.with_snapshots_of(self.context.lake.holds_snapshot)
        return content

    def publish(self, content: Content) -> RunReport:
        """Write the manifest, build and publish the database of its content, unless it is published."""
        found = self.outcome.failures(self.before)
        content = content.with_failures(f for f in found if content.repository(f.repository) is not None)
        manifest = self._manifest(content)
        is_unchanged = self._is_published(content)
        lost = set(find_lost_shards(self.context.lake, self.previous) if self.previous else ())
        if not is_unchanged and lost - self.damaged:
            raise LakeReadError(tuple(sorted(lost - self.damaged)), "set aside by a stage")
        with self._timed(Stage.LOAD):
            if is_unchanged and self.previous is not None:
                name = str(self.previous.database)
            else:
                call = self.executor.submit(load_all, manifest, self.context)
                self.outcome.loaded = publish(manifest, self.context.lake, call)
                name = self.outcome.loaded.database
        ended = finished(manifest, self.context.lake, name, has_failed=bool(self.outcome.failed))
        self.context.lake.write_manifest(replace(ended, stages=self.outcome.stage_counts()))
        return self._report(found, self.context.lake.data_dir / name, is_unchanged)

    def _is_published(self, content: Content) -> bool:
        """Whether the published database was built from this very content."""
        return (
            self.previous is not None
            and not self._is_chunking_new
            and not self._is_model_new
            and self.previous.database is not None
            and self.previous.config["schema_version"] == database.SCHEMA_VERSION
            and database_files.published_path(self.context.lake.data_dir)
            == self.context.lake.data_dir / self.previous.database
            and not self.outcome.has_made_something
            and content.is_same(Content.of(self.previous))
        )

    def _write_first_manifest(self) -> None:
        """Say that a run began; the content stays that of the run before until the new one is whole."""
        self.context.lake.write_manifest(begun(self._manifest(Content()), self.previous))

    def _manifest(self, content: Content) -> Manifest:
        manifest = Manifest(
            run_id=self.context.run_id,
            sequence=self.previous.sequence + 1 if self.previous else 1,
            started_at=self.started_at,
            finished_at=None,
            state="running",
            version=__version__,
            chunking_fingerprint=self.context.chunking.fingerprint,
            model=asdict(self.context.model),
            config={
                **self.context.settings.model_dump(mode="json", exclude={"data_dir", "model"}),
                "chunker": self.context.chunking.chunker.value,
                "header": self.context.chunking.header.value,
                "schema_version": database.SCHEMA_VERSION,
            },
            repositories=(),
            snapshots=(),
            stages=self.outcome.stage_counts(),
        )
        return with_content(manifest, content)

    # reports

    def _report(self, found: tuple[Failure, ...], path: Path, is_unchanged: bool) -> RunReport:
        old = {(failure.repository, failure.path) for failure in self.before.failures}
        seconds = {stage.value: self.seconds.get(stage, 0.0) for stage in Stage}
        return RunReport(
            run_id=self.context.run_id,
            repositories=tuple(self.outcome.repository_reports(found, database.chunk_counts(path))),
            seconds={**seconds, "total": time.monotonic() - self.started},
            database=str(path),
            is_unchanged=is_unchanged,
            failures=found,
            new_failures=tuple(
                f for f in found if f.path == WHOLE_REPOSITORY or (f.repository, f.path) not in old
            ),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        if not self.damaged:
            return self.outcome.notes()
        names = ", ".join(sorted(self.damaged))
        return (f"damaged or gone in the lake, made again where possible: {names}", *self.outcome.notes())

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - started
