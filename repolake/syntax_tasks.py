"""What stretches of a syntax tree are still to become atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from repolake.definitions import Definition
from repolake.scopes import Scope
from repolake.syntax import Node

# Where a node's stretch of text starts, the node, whether it is a condition above what it governs.
Part = tuple[int, Node, bool]


@dataclass(slots=True)
class Groups:
    """Consecutive parts, grouped into what is to become one task each; by column: most are one plain node.

    The lists have one more entry for the end of the stretch; the rest is by number, of special groups only.
    """

    starts: list[int]
    lines: list[int]  # which begin at `starts`, or NO_LINE
    firsts: list[int]  # number of the first part of each
    found: dict[int, Definition]  # what the first part defines
    headers: set[int]  # the first part is one
    leading: set[int]  # all are comments and the like, of a definition below
    may_lead: set[int]  # all are such or headers


class Task(NamedTuple):
    """A stretch of text from `start` to `end` that is to become atoms.

    `found` is what its first node defines if no other statement follows. `leads` are earlier places where
    the definition may start: comments above it.
    """

    nodes: list[Node]
    start: int
    end: int
    scope: Scope
    depth: int
    found: Definition | None = None
    is_alone: bool = True
    leads: tuple[int, ...] = ()

    @property
    def first(self) -> int:
        """Where the stretch starts with all that leads to it."""
        return self.leads[0] if self.leads else self.start


class Run(NamedTuple):
    """Statements that each take whole lines and fit: atoms at once."""

    starts: list[int]
    lines: list[int]
    scope: Scope
    depth: int
