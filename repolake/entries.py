"""One path of a source before any decision about it."""

from __future__ import annotations

from dataclasses import dataclass

from repolake.skip_rules import SkipReason


@dataclass(frozen=True, slots=True)
class Entry:
    """One path as its source lists it.

    `blob` and `size_bytes` are null where the source cannot know them without reading. `skip_reason` is
    set for what is no regular file or what the source's own ignore files leave out; `error` for what
    could not be read; `ignored_by` for a tracked file is the line of a `.gitignore` that names it all the
    same.
    """

    path: str
    blob: str | None = None
    size_bytes: int | None = None
    skip_reason: SkipReason | None = None
    skip_rule: str | None = None
    error: str | None = None
    ignored_by: str | None = None
