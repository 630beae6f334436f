"""Where labelled targets are in an index: the lines of their symbols, and what is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from repolake.errors import UsageError
from repolake.labels import LabelledQuery
from repolake.metrics import Target
from repolake.outline import outline
from repolake.session import Session


def resolve_labels(
    labels: Sequence[LabelledQuery], session: Session
) -> tuple[list[LabelledQuery], list[str]]:
    """Return the labels with the lines of their symbols in the index, and a sentence for each without.

    Raises UsageError when they ask about a repository that the index does not hold.
    """
    _check_repositories(labels, session)
    resolved, unresolved = [], []
    for label in labels:
        targets = []
        for target in label.targets:
            found = _resolve(target, label.repository, session)
            if isinstance(found, str):
                unresolved.append(f"{label.query_id}: {found}")
            targets.append(target if isinstance(found, str) else found)
        resolved.append(replace(label, targets=tuple(targets)))
    return resolved, unresolved


def _check_repositories(labels: Sequence[LabelledQuery], session: Session) -> None:
    known = {row[0] for row in session.rows("queries/searchable_names", {})}
    asked = [label.repository for label in labels if label.repository not in {None, *known}]
    if asked:
        names = ", ".join(sorted({str(name) for name in asked}))
        raise UsageError(
            f"{len(asked)} of {len(labels)} queries ask about what is not in the index: {names}",
            f"the index holds {', '.join(sorted(known))}; index the others under these names",
        )


def _resolve(target: Target, repository: str | None, session: Session) -> Target | str:
    """Return the target with its lines, or what is wrong with it."""
    place = {"path": target.path, "repository": repository}
    line_counts = session.rows("queries/label_files", place)
    if not line_counts:
        return f"{target.path} is not in the index"
    if target.symbol is not None and target.start_line is None:
        found = session.rows("queries/label_spans", place | {"symbol": target.symbol})
        spans = list(_spans(target.symbol, found))
        if not spans:
            return f"{target.path} defines no {target.symbol}"
        return replace(target, start_line=min(spans)[0], end_line=max(end for _, end in spans))
    if (target.end_line or 0) > line_counts[0][0]:
        return f"{target.path} has {line_counts[0][0]} lines, not {target.end_line}"
    return target


def _spans(symbol: str, chunks: list[tuple[str, str, str, int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a symbol: of its own chunks or, in a chunk that holds more, of its definition."""
    outer = [chunk for chunk in chunks if symbol.startswith(f"{chunk[0]}.")]
    if len(outer) < len(chunks):
        yield from ((start, end) for name, _, _, start, end in chunks if not symbol.startswith(f"{name}."))
        return
    for name, language, text, start, _ in outer:
        around = name.rpartition(".")[0]
        for entry in outline(text, language):
            if (f"{around}.{entry.symbol}" if around else entry.symbol) == symbol:
                yield start + entry.start_line - 1, start + entry.end_line - 1
