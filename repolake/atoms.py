"""Collect the atoms of a text; where there is no syntax to go by, lines, and in a long line words."""

from __future__ import annotations

from repolake.packing import BYTES_PER_TOKEN, Atoms, fits
from repolake.scopes import Scope
from repolake.tokens import NO_LINE, TextTokens

INSIDE_LINE = 1_000  # added to the depth of cuts inside a line: any other place is better
DEEPEST_INDENT = 99


class AtomList:
    """The atoms of one text, added from its start to its end."""

    def __init__(self, tokens: TextTokens) -> None:
        self.atoms = Atoms()
        self._tokens = tokens

    def add(self, start: int, scope: Scope, depth: int, *, whole: bool = False) -> None:
        """Add one atom that is known to fit."""
        line = self._tokens.line_of(start)
        if self._tokens.line_starts[line] == start:
            self._append(start, line, scope, depth, whole=whole)
        else:
            self._append(start, NO_LINE, scope, depth + INSIDE_LINE, whole=whole)

    def _append(self, start: int, line: int, scope: Scope, depth: int, *, whole: bool = False) -> None:
        self.atoms.starts.append(start)
        self.atoms.lines.append(line)
        self.atoms.scopes.append(scope)
        self.atoms.depths.append(depth)
        self.atoms.are_whole.append(whole)

    def add_run(self, starts: list[int], lines: list[int], scope: Scope, depth: int) -> None:
        """Add atoms that are known to fit, and to start lines."""
        count = len(starts)
        self.atoms.starts.extend(starts)
        self.atoms.lines.extend(lines)
        self.atoms.scopes.extend([scope] * count)
        self.atoms.depths.extend([depth] * count)
        self.atoms.are_whole.extend([False] * count)

    def add_fitting(self, start: int, end: int, scope: Scope, depth: int) -> None:
        """Add one atom if it fits, else its lines."""
        if fits(self._tokens, start, end, scope.later_room):
            self.add(start, scope, depth)
        else:
            self.add_lines(start, end, scope, depth)

    def add_lines(self, start: int, end: int, scope: Scope, depth: int) -> None:
        """Add an atom for each line, and for each word of a line that does not fit.

        Cuts after blank lines are best, then those before lines with little indentation.
        """
        tokens = self._tokens
        if start >= end:
            return
        room = scope.later_room
        after_blank = True
        for line in range(tokens.line_of(start), tokens.line_of(end - 1) + 1):
            own_start, own_end = tokens.line_starts[line], tokens.line_ends[line] + 1
            line_start, line_end = max(start, own_start), min(end, own_end)
            content = tokens.data[line_start:line_end]
            text_size = len(content.lstrip())
            if not text_size:
                after_blank = True
                if line_start == start:
                    self.add(start, scope, depth)
                continue
            indent = len(content) - text_size
            place_depth = depth + (0 if after_blank else 1 + min(indent, DEEPEST_INDENT))
            after_blank = False
            if (
                line_start == own_start
                and tokens.line_sums[line + 1] - tokens.line_sums[line] <= room
                and own_end - own_start <= room * BYTES_PER_TOKEN
            ):
                self._append(line_start, line, scope, place_depth)
                continue
            self.add(line_start, scope, place_depth)
            if not fits(tokens, line_start, line_end, room):
                for place in tokens.words_in(line)[0]:
                    if line_start < place < line_end:
                        self.add(place, scope, depth)
