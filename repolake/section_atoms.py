"""Turn a text with headings into atoms: a section that fits is whole, others are opened."""

from __future__ import annotations

from repolake.atoms import AtomList
from repolake.headings import Heading
from repolake.packing import fits
from repolake.scopes import Scope, ScopeMaker
from repolake.tokens import TextTokens

SECTION_KIND = "section"


def add_sections(headings: list[Heading], tokens: TextTokens, scopes: ScopeMaker, atoms: AtomList) -> None:
    """Add the atoms of a text whose headings are known; what stands before the first is the module's."""
    size = len(tokens.data)
    atoms.add_lines(0, headings[0].start if headings else size, scopes.module, 0)
    stack = _tasks(headings, 0, len(headings), size, scopes.module)
    while stack:
        first, last, end, parent = stack.pop()
        heading = headings[first]
        scope = scopes.inside(parent, heading.title, SECTION_KIND, (heading.title_start, heading.title_end))
        if fits(tokens, heading.start, end, scope.room):
            atoms.add(heading.start, scope, 0, whole=True)
            continue
        atoms.add_lines(heading.start, headings[first + 1].start if first + 1 < last else end, scope, 0)
        stack.extend(_tasks(headings, first + 1, last, end, scope))


def _tasks(
    headings: list[Heading], first: int, last: int, end: int, parent: Scope
) -> list[tuple[int, int, int, Scope]]:
    """Return the sections directly in a range of headings, last one first."""
    starts: list[int] = []
    for index in range(first, last):
        if not starts or headings[index].level <= headings[starts[-1]].level:
            starts.append(index)
    ends = [*starts[1:], last][: len(starts)]
    return [
        (start, stop, headings[stop].start if stop < last else end, parent)
        for start, stop in zip(reversed(starts), reversed(ends), strict=True)
    ]
