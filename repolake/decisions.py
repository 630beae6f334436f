"""One decision for one path: index, or skip with the reason and the very rule that fired.

Order: what the source itself leaves out; the repository's include and exclude patterns; `.repolakeignore`;
`.gitattributes`; names; size; bytes; encoding; text. `.repolakeignore` and `.gitattributes` can win a file
back from the rules about names and text, never from size, binary content or an unknown encoding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from repolake.attributes import NO_ATTRIBUTES, Attributes
from repolake.content_rules import NUL_RULE, rule_for_bytes, rule_for_text
from repolake.entries import Entry
from repolake.file_kinds import kind_of
from repolake.ignore_patterns import IgnorePatterns, PathFilter
from repolake.languages import NOTEBOOK_ENDING, language_of
from repolake.notebook import notebook_language
from repolake.records import Kind
from repolake.skip_rules import Rule, SkipReason, rule_for_path
from repolake.text_decoding import decode, file_text

_HEAD_BYTES = 16384
_NO_WAY_BACK = frozenset(
    {
        SkipReason.DATA_DIR,
        SkipReason.IMAGE,
        SkipReason.FONT,
        SkipReason.MEDIA,
        SkipReason.ARCHIVE,
        SkipReason.BINARY,
    }
)
_GENERATED_REASONS = frozenset({SkipReason.GENERATED, SkipReason.MINIFIED, SkipReason.LOCKFILE})


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of one path. Without `skip_reason` and `error` the file is indexed."""

    skip_reason: SkipReason | None = None
    skip_rule: str | None = None
    error: str | None = None
    language: str | None = None
    kind: Kind | None = None
    encoding: str | None = None
    line_count: int | None = None

    @property
    def is_indexed(self) -> bool:
        """Whether the file is indexed."""
        return self.skip_reason is None and self.error is None


@dataclass(frozen=True, slots=True)
class Undecided:
    """What names and patterns say of a path whose content must be read to decide it."""

    is_won_back: bool
    attributes: Attributes
    kind: Kind | None


class Decider:
    """Decides the paths of one snapshot; cheap for each, it opens nothing."""

    def __init__(
        self,
        *,
        max_file_bytes: int,
        path_filter: PathFilter,
        ignore_patterns: IgnorePatterns,
        attributes: Mapping[str, Attributes],
    ) -> None:
        self._max_file_bytes = max_file_bytes
        self._filter = path_filter
        self._patterns = ignore_patterns
        self._attributes = attributes

    def by_content(self, entry: Entry, standing: Undecided, data: bytes) -> Decision:
        """Return the decision about a file whose name and size left it undecided."""
        if len(data) > self._max_file_bytes:
            return self._too_large()
        rule = rule_for_bytes(data)
        if rule is not None:
            return _skip((_encoding_rule(standing) if rule == NUL_RULE else None) or rule)
        language = language_of(entry.path, data[:_HEAD_BYTES])
        decoded = decode(data, entry.path)
        if decoded is None:
            return _skip(_encoding_rule(standing) or Rule(SkipReason.UNDECODABLE, "no known encoding"))
        if entry.path.lower().endswith(NOTEBOOK_ENDING):
            found = notebook_language(decoded.text)
            decoded = file_text(entry.path, found or language, data)
            if found is None or decoded is None:
                return _skip(Rule(SkipReason.DATA, "no readable notebook"))
            language = found
        rule = rule_for_text(decoded.text, language)
        if rule is not None and not _is_overruled(rule, standing):
            return _skip(rule)
        decision = Decision(
            language=language,
            kind=standing.kind or kind_of(entry.path, language),
            encoding=decoded.encoding,
            line_count=decoded.line_count,
        )
        if rule is not None and standing.is_won_back and rule.reason in _GENERATED_REASONS:
            decision = replace(decision, kind=Kind.GENERATED)
        return decision

    def by_name(self, entry: Entry) -> Decision | Undecided:
        """Return the decision that needs no content, or what is known of a file to be read."""
        if entry.error is not None:
            return Decision(error=entry.error)
        if entry.skip_reason is not None:
            return Decision(entry.skip_reason, entry.skip_rule)
        path = entry.path
        excluding = self._filter.rule(path)
        if excluding is not None:
            return Decision(SkipReason.EXCLUDED, excluding)
        verdict = self._patterns.verdict(path)
        if verdict is not None and verdict.is_excluded:
            return Decision(SkipReason.EXCLUDED, verdict.rule)
        attributes = self._attributes.get(path, NO_ATTRIBUTES)
        standing = Undecided(
            verdict is not None, attributes, Kind.DOCS if attributes.is_documentation else None
        )
        rule = _ignore_rule(entry) or _attribute_rule(attributes) or rule_for_path(path)
        if rule is not None:
            if not _is_overruled(rule, standing):
                return _skip(rule)
            if standing.is_won_back:
                standing = replace(standing, kind=_won_back_kind(rule) or standing.kind)
        if entry.size_bytes is not None and entry.size_bytes > self._max_file_bytes:
            return self._too_large()
        return standing

    def _too_large(self) -> Decision:
        return Decision(SkipReason.TOO_LARGE, f"over max_file_bytes {self._max_file_bytes}")


def purged_decision() -> Decision:
    """Return the decision about a content that somebody had purged; no pattern wins it back."""
    return Decision(SkipReason.PURGED, "gc --purge-blob")


def _ignore_rule(entry: Entry) -> Rule | None:
    return Rule(SkipReason.IGNORED, entry.ignored_by) if entry.ignored_by is not None else None


def _attribute_rule(attributes: Attributes) -> Rule | None:
    if attributes.is_vendored:
        return Rule(SkipReason.VENDORED, ".gitattributes linguist-vendored")
    if attributes.is_generated:
        return Rule(SkipReason.GENERATED, ".gitattributes linguist-generated")
    return None


def _encoding_rule(standing: Undecided) -> Rule | None:
    """Return the rule about text on disk in an encoding that only `.gitattributes` tell, if they do."""
    encoding = standing.attributes.disk_encoding
    return Rule(SkipReason.UNDECODABLE, f"working-tree-encoding {encoding}") if encoding else None


def _is_overruled(rule: Rule, standing: Undecided) -> bool:
    if rule.reason in _NO_WAY_BACK:
        return False
    if standing.is_won_back:
        return True
    attributes = standing.attributes
    if rule.reason is SkipReason.VENDORED:
        return attributes.is_vendored is False
    return rule.reason in _GENERATED_REASONS and attributes.is_generated is False


def _won_back_kind(rule: Rule) -> Kind | None:
    if rule.reason is SkipReason.VENDORED:
        return Kind.VENDORED
    return Kind.GENERATED if rule.reason in _GENERATED_REASONS else None


def _skip(rule: Rule) -> Decision:
    return Decision(rule.reason, rule.name)
