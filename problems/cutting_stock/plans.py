"""Plans without column generation: greedy filling, and best fit into a partial plan."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, Stock, Use

Mask = NDArray[np.bool_]


def first_fit_decreasing(instance: CuttingStockInstance) -> list[tuple[Pattern, int]]:
    """Return a plan that puts each piece, widest first, into the first roll with enough space."""
    plan = fill_greedily(instance.widths, instance.demands, Stock((instance.roll,), (1.0,)))
    return [(pattern, rolls) for pattern, rolls, _ in plan or ()]


def fill_greedily(
    widths: Sequence[int],
    demands: Sequence[int],
    stock: Stock,
    conflicts: Mask | None = None,
    order: Sequence[int] | None = None,
    used: Mapping[int, int] | None = None,
) -> list[Use] | None:
    """Fill rolls in the given order of items; the next roll is of the kind with the least cost per cut width.

    A filled roll is repeated while the demands last.  With one unlimited kind and the widest items first, this is
    first-fit decreasing.  Return None if the supplies do not suffice.

    With ``conflicts``, shape (items, items), each demand must be 1.  ``order`` is widest first by default, and ``used``
    counts the rolls already used of each limited kind.
    """
    turn = sorted(range(len(widths)), key=lambda i: -widths[i]) if order is None else list(order)
    left, rolls = list(demands), [limit - (used or {}).get(k, 0) for k, limit in enumerate(stock.limits)]
    uses: list[Use] = []
    single = len(stock.widths) == 1
    turn = [i for i in turn if left[i]]
    narrowing = [-widths[i] for i in turn] if order is None else None  # increasing, for bisection
    while turn:
        best: tuple[float, int, list[tuple[int, int]]] | None = None
        for k, width in enumerate(stock.widths):
            if rolls[k] < 1:
                continue
            cut = _fill(widths, left, width, turn, narrowing, conflicts)
            if not cut:
                continue
            ratio = 0.0 if single else stock.costs[k] / sum(widths[i] * copies for i, copies in cut)
            if best is None or (ratio, -width) < (best[0], -stock.widths[best[1]]):
                best = ratio, k, cut
        if best is None:
            return None
        _, k, cut = best
        times = int(min([rolls[k], *(left[i] // copies for i, copies in cut)]))
        rolls[k] -= times
        for i, copies in cut:
            left[i] -= copies * times
            if not left[i]:
                at = turn.index(i)
                del turn[at]
                if narrowing is not None:
                    del narrowing[at]
        uses.append((tuple(cut), times, k))
    return uses


def _fill(
    widths: Sequence[int],
    left: Sequence[int],
    room: int,
    turn: Sequence[int],
    narrowing: Sequence[int] | None,
    conflicts: Mask | None,
) -> list[tuple[int, int]]:
    cut: list[tuple[int, int]] = []
    barred = None if conflicts is None else np.zeros(len(widths), dtype=np.bool_)
    at = 0
    while True:
        if narrowing is not None:
            at = bisect_left(narrowing, -room, at)
        if at == len(turn):
            return cut
        i = turn[at]
        at += 1
        if widths[i] > room or (barred is not None and barred[i]):
            continue
        copies = min(left[i], room // widths[i])
        cut.append((i, copies))
        room -= copies * widths[i]
        if barred is not None and conflicts is not None:
            barred |= conflicts[i]


def move_to_cheapest(widths: Sequence[int], uses: Sequence[Use], stock: Stock) -> list[Use]:
    """Move each pattern to the cheapest available roll that holds it."""
    left = list(stock.limits)
    for _, rolls, kind in uses:
        left[kind] -= rolls
    moved: list[Use] = []
    cheapest = sorted(range(len(left)), key=lambda k: (stock.costs[k], stock.widths[k]))
    for pattern, rolls, kind in uses:
        length = sum(widths[i] * copies for i, copies in pattern)
        left[kind] += rolls
        for k in cheapest:
            number = int(min(rolls, left[k])) if stock.widths[k] >= length else 0
            if number > 0:
                moved.append((pattern, number, k))
                left[k] -= number
                rolls -= number
    return moved


def cost(uses: Sequence[Use], stock: Stock) -> float:
    """Cost of a plan."""
    used = Counter[int]()
    for _, rolls, kind in uses:
        used[kind] += rolls
    return float(sum(Fraction(stock.costs[kind]) * rolls for kind, rolls in used.items()))


def cheapest_plan(plans: Iterable[list[Use] | None], stock: Stock, over: Callable[[], bool]) -> list[Use] | None:
    """Return the cheapest plan of an iterable, which is not continued once ``over()`` is true."""
    best: list[Use] | None = None
    for plan in plans:
        if plan is not None and (best is None or cost(plan, stock) < cost(best, stock)):
            best = plan
        if over():
            break
    return best


# --- best fit --------------------------------------------------------------------------------------------------------


def best_fit_decreasing(
    instance: CuttingStockInstance, demands: Sequence[int] | None = None
) -> list[tuple[Pattern, int]]:
    """Return a plan that puts each piece, widest first, into the roll that it fills best."""
    left = instance.demands if demands is None else demands
    plan = PartialPlan(instance)
    for item in sorted(range(instance.num_items), key=lambda item: -instance.widths[item]):
        plan.fit(item, left[item])
    return plan.patterns()


class PartialPlan:
    """A plan on rolls of the instance's width to which pieces are added; equal rolls are one entry."""

    def __init__(self, instance: CuttingStockInstance) -> None:
        self._roll, self._widths = instance.roll, instance.widths
        self._room: list[int] = []  # increasing
        self._cut: list[tuple[int, dict[int, int]]] = []  # for each room: number of rolls, copies of each item

    def put(self, cut: Mapping[int, int], rolls: int) -> None:
        """Add rolls with their pieces."""
        room = self._roll - sum(self._widths[item] * copies for item, copies in cut.items())
        at = bisect_left(self._room, room)
        self._room.insert(at, room)
        self._cut.insert(at, (rolls, dict(cut)))

    def fit(self, item: int, pieces: int) -> None:
        """Add pieces of an item where they leave the least space, or in new rolls.

        The roll that a piece fills best is also best for the next piece, until it is full.
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

    def patterns(self) -> list[tuple[Pattern, int]]:
        """Return the patterns and their numbers of rolls."""
        patterns: Counter[Pattern] = Counter()
        for rolls, cut in self._cut:
            patterns[tuple(sorted(cut.items(), key=lambda piece: (-self._widths[piece[0]], piece[0])))] += rolls
        return list(patterns.items())
