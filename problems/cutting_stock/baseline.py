"""What column generation is compared with: packing heuristics."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern


def best_fit_decreasing(
    instance: CuttingStockInstance, demands: Sequence[int] | None = None
) -> list[tuple[Pattern, int]]:
    """Every piece, widest first, goes into the roll that it fills best; ``demands`` may be what is left to cut."""
    left = instance.demands if demands is None else demands
    rolls = Rolls(instance)
    for item in sorted(range(instance.num_items), key=lambda item: -instance.widths[item]):
        rolls.fit(item, left[item])
    return rolls.plan()


class Rolls:
    """Rolls that pieces are put into, those that are cut alike taken together: their number costs nothing."""

    def __init__(self, instance: CuttingStockInstance) -> None:
        self._roll, self._widths = instance.roll, instance.widths
        self._room: list[int] = []  # increasing
        self._cut: list[tuple[int, dict[int, int]]] = []  # of each room: how many rolls, and what is cut from them

    def put(self, cut: Mapping[int, int], rolls: int) -> None:
        """Rolls from which something is cut already."""
        room = self._roll - sum(self._widths[item] * copies for item, copies in cut.items())
        at = bisect_left(self._room, room)
        self._room.insert(at, room)
        self._cut.insert(at, (rolls, dict(cut)))

    def fit(self, item: int, pieces: int) -> None:
        """Put pieces of an item where they leave least room, in new rolls if they fit nowhere.

        The roll that a piece fills best is the best one for the next piece too, until it is full.
        """
        width = self._widths[item]
        while pieces:
            at = bisect_left(self._room, width)
            if at < len(self._room):
                room, (rolls, cut) = self._room.pop(at), self._cut.pop(at)
            else:
                room, rolls, cut = self._roll, pieces, {}
            each = room // width
            full = min(rolls, pieces // each)
            rest = min(pieces - full * each, each) if full < rolls else 0
            untouched = rolls - full - (rest > 0)
            if cut and untouched:
                self.put(cut, untouched)
            for copies, number in ((each, full), (rest, 1)):
                if copies and number:
                    self.put({**cut, item: cut.get(item, 0) + copies}, number)
            pieces -= full * each + rest

    def plan(self) -> list[tuple[Pattern, int]]:
        """Patterns and rolls."""
        patterns: Counter[Pattern] = Counter()
        for rolls, cut in self._cut:
            patterns[tuple(sorted(cut.items(), key=lambda piece: (-self._widths[piece[0]], piece[0])))] += rolls
        return list(patterns.items())
