"""Goes through every path of a checkout once and decides it, reading what must be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from repolake.checkout import Checkout
from repolake.decisions import Decider, Decision, Undecided, purged_decision
from repolake.entries import Entry
from repolake.errors import SourceError
from repolake.ignore_patterns import IGNORE_FILE, IgnorePatterns, PathFilter
from repolake.lake import Lake
from repolake.reading import FileSource, blob_id
from repolake.records import RepositorySpec
from repolake.settings import Settings
from repolake.source import open_source

# What these modules say decides what is indexed: another text of them is another rules fingerprint.
_RULE_MODULES = (
    "attributes content_rules decisions file_kinds ignore_patterns ignored_later languages notebook"
    " skip_rules text_decoding"
).split()

_READ_AHEAD = 512

Known = Mapping[tuple[str, str], Decision]


@dataclass(frozen=True, slots=True)
class Inspected:
    """One path with its decision. `data` is there while a consumer asked for contents."""

    entry: Entry
    decision: Decision
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """All paths of a checkout, listed; `files()` decides them one after another.

    `basis` is a fingerprint of everything but content that decisions rest on: under an equal basis an equal
    path with an equal blob has an equal decision.
    """

    checkout: Checkout
    entries: list[Entry]
    decider: Decider
    basis: str
    purged: frozenset[str] = frozenset()

    def files(self, known: Known, advance: Callable[[int], None]) -> Iterator[Inspected]:
        """Yield each path with its decision; contents of paths in `known` are not judged again."""
        with open_source(self.checkout.source) as source:
            for start in range(0, len(self.entries), _READ_AHEAD):
                entries = self.entries[start : start + _READ_AHEAD]
                yield from self._decide(source, entries, known)
                advance(len(entries))

    def _decide(self, source: FileSource, entries: list[Entry], known: Known) -> Iterator[Inspected]:
        decided = [self._without_reading(entry, known) for entry in entries]
        unread = [
            (entry.path, entry.blob)
            for entry, outcome in zip(entries, decided, strict=True)
            if isinstance(outcome, Undecided)
        ]
        contents = source.read_many(unread)
        for entry, outcome in zip(entries, decided, strict=True):
            if isinstance(outcome, Decision):
                yield Inspected(entry, outcome)
            else:
                yield self._by_content(entry, outcome, next(contents), known)

    def _without_reading(self, entry: Entry, known: Known) -> Decision | Undecided:
        if entry.blob in self.purged:
            return purged_decision()
        outcome = self.decider.by_name(entry)
        if isinstance(outcome, Undecided) and entry.blob is not None:
            return known.get((entry.path, entry.blob), outcome)
        return outcome

    def _by_content(
        self, entry: Entry, standing: Undecided, data: bytes | SourceError, known: Known
    ) -> Inspected:
        if isinstance(data, SourceError):
            return Inspected(entry, Decision(error=data.reason))
        if entry.blob is None:
            git = self.checkout.git
            blob = blob_id(data, is_sha256=git is not None and git.is_sha256)
            entry = replace(entry, blob=blob, size_bytes=len(data))
        if entry.blob in self.purged:
            return Inspected(entry, purged_decision())
        found = known.get((entry.path, entry.blob or ""))
        return Inspected(entry, found or self.decider.by_content(entry, standing, data), data)


def inspect(checkout: Checkout, spec: RepositorySpec, settings: Settings) -> Inspection:
    """List a checkout and read the files that govern its decisions.

    Raises SourceError, GitError when it cannot be listed.
    """
    entries = checkout.entries(settings.data_dir, settings.history_commit_limit)
    paths = [entry.path for entry in entries if entry.skip_reason is None and entry.error is None]
    attributes = checkout.attributes(paths)
    ignore_files = _ignore_files(checkout, entries)
    basis = hashlib.md5(rules_fingerprint(spec, settings).encode(), usedforsecurity=False)
    for named in (
        ignore_files.items(),
        ((path, repr(found)) for path, found in attributes.items()),
        ((entry.path, entry.ignored_by) for entry in entries if entry.ignored_by is not None),
    ):
        basis.update(repr(sorted(named)).encode("utf-8", "backslashreplace"))
    decider = Decider(
        max_file_bytes=settings.max_file_bytes,
        path_filter=PathFilter(spec.include, spec.exclude),
        ignore_patterns=IgnorePatterns(ignore_files),
        attributes=attributes,
    )
    purged = Lake(settings.data_dir).purged_blobs()
    return Inspection(checkout, entries, decider, basis.hexdigest(), purged)


def rules_fingerprint(spec: RepositorySpec, settings: Settings) -> str:
    """Return a fingerprint of the rules, of the settings that they use, and of the repository's patterns."""
    own = (
        settings.max_file_bytes,
        settings.history_commit_limit,
        settings.author_names,
        spec.include,
        spec.exclude,
    )
    return hashlib.md5((_rules_text_hash() + repr(own)).encode(), usedforsecurity=False).hexdigest()


@cache
def _rules_text_hash() -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for name in _RULE_MODULES:
        digest.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()


def _ignore_files(checkout: Checkout, entries: list[Entry]) -> dict[str, str]:
    """Return the text of each `.repolakeignore`, by its folder."""
    named = [
        entry
        for entry in entries
        if (entry.path == IGNORE_FILE or entry.path.endswith("/" + IGNORE_FILE))
        and entry.skip_reason is None
        and entry.error is None
    ]
    if not named:
        return {}
    texts = {}
    with open_source(checkout.source) as source:
        contents = source.read_many([(entry.path, entry.blob) for entry in named])
        for entry, data in zip(named, contents, strict=True):
            if not isinstance(data, SourceError):  # else its own row names the failure
                texts[entry.path.rpartition("/")[0]] = data.decode("utf-8-sig", "replace")
    return texts
