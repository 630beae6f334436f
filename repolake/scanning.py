"""Scan many repositories through an executor, and accept what may enter the lake."""

from __future__ import annotations

from collections.abc import Sequence

from repolake.checkout import FOLDER_REF, WORKTREE_SUFFIX
from repolake.content import Content, check_name
from repolake.errors import NothingToIndexError, SourceError, UnknownNameError, UsageError
from repolake.executor import Executor
from repolake.groups import Context, ScanRequest, groups_of, scan_group
from repolake.outcome import Outcome
from repolake.records import RepositoryFailure, RepositorySpec, ScanReport, Snapshot, Stage


def scan_repositories(
    specs: Sequence[RepositorySpec],
    before: Content,
    outcome: Outcome,
    context: Context,
    executor: Executor,
    *,
    has_all_refs: bool = False,
) -> None:
    """Scan every ref of every repository; add reports, failures and vanished refs to `outcome`.

    With `has_all_refs` the refs that the lake knows beside those asked for are read again, too. A repository
    whose name is another's, and a new one without any indexable file, count as failed.
    """
    requests = [_request(spec, before, has_all_refs) for spec in specs]
    again = _scan_groups(groups_of(requests), before, outcome, context, executor)
    # One by one, so that the executor's retries concern only what failed for a passing reason.
    _scan_groups([(request,) for request in again], before, outcome, context, executor)
    _tell_gone_refs(before, outcome)


def _request(spec: RepositorySpec, before: Content, has_all_refs: bool) -> ScanRequest:
    previous = _previous_snapshots(spec, before)
    asked: tuple[str | None, ...] = spec.refs or (None,)
    others = tuple(ref for ref in previous if ref is not None and ref not in asked)
    default = previous.get(None) if None in asked else None
    if has_all_refs and not spec.worktree:
        asked += tuple(
            ref
            for ref in others
            if ref != FOLDER_REF
            and not ref.endswith(WORKTREE_SUFFIX)
            and not (default is not None and ref == default.ref)
        )
    return ScanRequest(spec, asked, others, previous)


def _tell_gone_refs(before: Content, outcome: Outcome) -> None:
    """Count a known ref that its repository no longer has as gone, not as failed.

    Not the default ref: without it the repository counts as failed, and its snapshot stays. Nor a repository
    of which no other ref could be read.
    """
    for failure in tuple(outcome.failed):
        known = before.repository_at(failure.spec.location, failure.spec.name)
        if known is None or failure.ref is None or not isinstance(failure.error, UnknownNameError):
            continue
        name = known.repository
        found = [report.repository for _, report in outcome.scans if report.repository.repository == name]
        was_known = failure.ref in (*before.current_refs(name), *before.spec(name).refs)
        if not found or not was_known:
            continue
        default_ref = known.default_ref if failure.spec.refs else found[0].default_ref
        if failure.ref != default_ref:
            outcome.failed.remove(failure)
            outcome.gone_refs.append((name, failure.ref))


def _previous_snapshots(spec: RepositorySpec, before: Content) -> dict[str | None, Snapshot]:
    known = before.repository_at(spec.location, spec.name)
    if known is None:
        return {}
    found: dict[str | None, Snapshot] = {
        snapshot.ref: snapshot
        for snapshot in before.snapshots
        if snapshot.is_current and snapshot.repository == known.repository
    }
    refs = (
        [ref for ref in found if ref is not None and ref.endswith(WORKTREE_SUFFIX)] if spec.worktree else []
    )
    for ref in (*refs, known.default_ref):
        if ref in found:
            return {**found, None: found[ref]}
    return found


def _scan_groups(
    groups: Sequence[tuple[ScanRequest, ...]],
    before: Content,
    outcome: Outcome,
    context: Context,
    executor: Executor,
) -> list[ScanRequest]:
    """Scan groups and take what they gave; return the requests worth a second try."""
    calls = [executor.submit(scan_group, group, context) for group in groups]
    again: list[ScanRequest] = []
    for group, call in zip(groups, calls, strict=True):
        try:
            results = call.result()
        except SourceError as error:
            outcome.failed.append(RepositoryFailure(group[0].spec, None, Stage.SCAN, error))
            continue
        for request, result in results:
            if isinstance(result, ScanReport):
                _take(request.spec, result, before, outcome)
            elif len(group) == 1 or not result.error.is_transient:
                outcome.failed.append(result)
            elif request not in again:
                again.append(request)
    return again


def _take(spec: RepositorySpec, report: ScanReport, before: Content, outcome: Outcome) -> None:
    name = report.repository.repository
    known = before.repository(name)
    siblings = [found.repository for _, found in outcome.scans if found.repository.repository == name]
    try:
        for other in siblings or ([known] if known else []):
            check_name(report.repository, other)
        if known is None and report.files_indexed == 0:
            raise _nothing_to_index(report)
    except UsageError as error:
        outcome.failed.append(RepositoryFailure(spec, report.snapshot.ref, Stage.SCAN, error))
    else:
        outcome.scans.append((spec, report))


def _nothing_to_index(report: ScanReport) -> NothingToIndexError:
    rules = ", ".join(f"{count} by {rule}" for rule, count in report.skipped_by_rule.items())
    return NothingToIndexError(
        f"{report.repository.location} has no indexable file"
        + (f" (skipped: {rules})" if rules else ": it is empty"),
        "name another path, or let files back in with a .repolakeignore",
    )
