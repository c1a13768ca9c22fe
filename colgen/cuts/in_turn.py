"""Separations in order, the expensive ones last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from colgen.core.columns import Key, Row
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation, SeparationContext


class InTurn(Separation):
    """Separations in order: a later one runs only if the earlier ones find no cuts.

    Parameters
    ----------
    enough
        Whether the node can be closed without the cuts of the last separation, which make pricing expensive.
    """

    def __init__(
        self, *separations: Separation, enough: Callable[[SeparationContext], bool] = lambda context: False
    ) -> None:
        self.separations = separations
        self.enough = enough

    def suit(self, master: Any) -> None:
        for separation in self.separations:
            separation.suit(master)

    def restore(self, key: Key, lower: float, upper: float) -> Row | None:
        found = (separation.restore(key, lower, upper) for separation in self.separations)
        return next((row for row in found if row is not None), None)

    def restated(self, key: Key) -> Row | None:
        found = (separation.restated(key) for separation in self.separations)
        return next((row for row in found if row is not None), None)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        for separation in self.separations:
            if separation is self.separations[-1] and not context.whole and self.enough(context):
                return ()
            rows = separation.separate(solution, context) if separation.applies(context.depth) else ()
            if rows:
                return rows
        return ()
