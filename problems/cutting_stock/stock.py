"""Rolls of several kinds: rows that limit them, what one costs in pricing problems, branching on them, greedy plans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from colgen import Column, Duals, OnOriginalVariable, PricingContext, Solution, artificial
from colgen.problems.cutting_stock.dual_feasible import dual_feasible
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.problems.cutting_stock.parts import Stock, Use

SUPPLY = "supply"
"""Block of the rows of kinds of which there are only so many rolls."""

USED = "used"
"""Block of the branching rows on how many rolls of a kind are used."""

Mask = NDArray[np.bool_]


def master(demands: Sequence[int], stock: Stock) -> pyo.ConcreteModel:
    """The rows of items and of limited kinds, without any pattern."""
    m = pyo.ConcreteModel()
    m.item = pyo.RangeSet(0, len(demands) - 1)
    m.unmet = artificial(m.item)
    m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= demands[i])
    limited = [k for k, limit in enumerate(stock.limits) if not math.isinf(limit)]
    if limited:
        m.kind = pyo.Set(initialize=limited)
        m.beyond = artificial(m.kind)
        m.supply = pyo.Constraint(m.kind, rule=lambda m, k: m.beyond[k] <= stock.limits[k])
    m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
    return m


class RollKind:
    """One kind of roll as pricing problems see it.

    Attributes
    ----------
    multiplicity
        Farley's bound does without one as long as rolls cost something.
    """

    def __init__(self, number: int, stock: Stock, pieces: int) -> None:
        self.number = number
        self.width, self.cost = stock.widths[number], stock.costs[number]
        self.limited = not math.isinf(stock.limits[number])
        # At least one: an oracle needs a positive multiplicity, and the row of the supply says how many there are.
        self.multiplicity = math.inf if self.cost > 0.0 else max(min(stock.limits[number], float(pieces)), 1.0)

    def charge(self, duals: Duals, context: PricingContext) -> float:
        """The reduced cost of a roll before anything is cut from it; infinite if none may be used."""
        if self.number in context.forbidden(USED):
            return math.inf
        paid = duals.get((SUPPLY, self.number)) if self.limited else 0.0
        return context.cost_weight * self.cost - paid - dict(duals.items(USED)).get(self.number, 0.0)

    def rows(self, duals: Duals) -> NDArray[np.int64]:
        """Numbers of the rows besides those of items that a roll of this kind has an entry in."""
        if not self.limited:
            return np.zeros(0, dtype=np.int64)
        numbers: NDArray[np.int64] = duals.rows(SUPPLY)[[duals.members(SUPPLY).index(self.number)]]
        return numbers

    def coefficients(self) -> Mapping[tuple[str, int], float]:
        """The same by name, with the entries."""
        return {(SUPPLY, self.number): 1.0} if self.limited else {}


def kind_of(column: Column) -> Mapping[int, float]:
    """The kind of roll that a column uses, once: an original variable of the rule below."""
    return {column.structure[0]: 1.0}


class OnRollsUsed(OnOriginalVariable):
    """Branch on how many rolls of a kind are used, for these are whole in every answer, and shape its cost."""

    def __init__(self) -> None:
        super().__init__(kind_of, block=USED)


def assigned(lengths: Sequence[tuple[int, Pattern, int]], solution: Solution, stock: Stock) -> list[Use] | None:
    """Patterns on the rolls that a fractional solution uses, which are as many, and whole of each kind.

    Where the longest patterns do not fit onto the widest rolls, one after the other, no rolls hold them all.

    Parameters
    ----------
    lengths
        Of each pattern its width, itself, and how often it is wanted.
    """
    used = np.zeros(len(stock.widths))
    for column, value in solution.columns:
        used[column.structure[0]] += value
    left = {k: round(number) for k, number in enumerate(used.tolist())}
    if any(abs(left[k] - number) > 1e-6 for k, number in enumerate(used.tolist())):
        return None
    kinds = sorted(left, key=lambda k: -stock.widths[k])
    uses: list[Use] = []
    for width, pattern, wanted in sorted(lengths, key=lambda entry: -entry[0]):
        while wanted:
            while kinds and not left[kinds[0]]:
                kinds.pop(0)
            if not kinds or stock.widths[kinds[0]] < width:
                return None
            rolls = min(wanted, left[kinds[0]])
            uses.append((pattern, rolls, kinds[0]))
            left[kinds[0]] -= rolls
            wanted -= rolls
    return uses


def material(instance: CuttingStockInstance, stock: Stock) -> dict[tuple[str, int], float]:
    """Dual values that bound the cost by the material alone: of the items, and of the limited kinds.

    They are those of min Σ c_k X_k over Σ C_k X_k ≥ W, 0 ≤ X_k ≤ s_k: rolls are used by what a unit of their width
    costs, and the unit of the last one used is what every unit is worth; a cheaper kind's supply is worth the rest.
    Of one kind, of which there are any number, dual-feasible functions may know more.
    """
    if stock.widths == (instance.roll,) and math.isinf(stock.limits[0]):
        return {("demand", i): stock.costs[0] * float(value) for i, value in enumerate(dual_feasible(instance))}
    left = sum(w * d for w, d in zip(instance.widths, instance.demands, strict=True))
    unit = 0.0
    for k in sorted(range(len(stock.widths)), key=lambda k: Fraction(stock.costs[k]) / stock.widths[k]):
        unit = stock.costs[k] / stock.widths[k]
        if math.isinf(stock.limits[k]) or stock.limits[k] * stock.widths[k] >= left:
            break
        left -= int(stock.limits[k]) * stock.widths[k]
    duals = {("demand", i): unit * width for i, width in enumerate(instance.widths)}
    for k, limit in enumerate(stock.limits):
        if not math.isinf(limit):
            duals[SUPPLY, k] = min(stock.costs[k] - unit * stock.widths[k], 0.0)
    return duals


def greedy(
    widths: Sequence[int],
    demands: Sequence[int],
    stock: Stock,
    conflicts: Mask | None = None,
    order: Sequence[int] | None = None,
    used: Mapping[int, int] | None = None,
) -> list[Use] | None:
    """Rolls that are filled in an order of the items, next the kind that costs least by the width that is cut from it.

    Parameters
    ----------
    conflicts
        Of the items, each of which is then wanted once.
    order
        Of the items; the widest first by default.
    used
        Rolls of limited kinds that are used already.

    Returns
    -------
    list or None
        None where the supplies do not suffice.
    """
    turn = sorted(range(len(widths)), key=lambda i: -widths[i]) if order is None else list(order)
    left, rolls = list(demands), [limit - (used or {}).get(k, 0) for k, limit in enumerate(stock.limits)]
    uses: list[Use] = []
    turn = [i for i in turn if left[i]]
    while turn:
        best: tuple[float, int, list[tuple[int, int]]] | None = None
        for k, width in enumerate(stock.widths):
            if rolls[k] < 1:
                continue
            cut = _filled(widths, left, width, turn, conflicts)
            if not cut:
                continue
            ratio = stock.costs[k] / sum(widths[i] * copies for i, copies in cut)
            if best is None or (ratio, -width) < (best[0], -stock.widths[best[1]]):
                best = ratio, k, cut
        if best is None:
            return None
        _, k, cut = best
        times = int(min([rolls[k], *(left[i] // copies for i, copies in cut)]))
        rolls[k] -= times
        for i, copies in cut:
            left[i] -= copies * times
        uses.append((tuple(cut), times, k))
        turn = [i for i in turn if left[i]]
    return uses


def _filled(
    widths: Sequence[int], left: Sequence[int], room: int, turn: Sequence[int], conflicts: Mask | None
) -> list[tuple[int, int]]:
    """A roll filled with the first items that fit."""
    cut: list[tuple[int, int]] = []
    barred = None if conflicts is None else np.zeros(len(widths), dtype=np.bool_)
    for i in turn:
        if widths[i] > room or (barred is not None and barred[i]):
            continue
        copies = min(left[i], room // widths[i])
        cut.append((i, copies))
        room -= copies * widths[i]
        if barred is not None and conflicts is not None:
            barred |= conflicts[i]
    return cut


def cheaper(widths: Sequence[int], uses: Sequence[Use], stock: Stock) -> list[Use]:
    """The same patterns, each on the cheapest roll that holds it, as long as there are such rolls."""
    left = list(stock.limits)
    for _, rolls, kind in uses:
        left[kind] -= rolls
    moved: list[Use] = []
    for pattern, rolls, kind in uses:
        length = sum(widths[i] * copies for i, copies in pattern)
        left[kind] += rolls
        for k in sorted(range(len(left)), key=lambda k: (stock.costs[k], stock.widths[k])):
            number = int(min(rolls, left[k])) if stock.widths[k] >= length else 0
            if number > 0:
                moved.append((pattern, number, k))
                left[k] -= number
                rolls -= number
    return moved


def cost(uses: Sequence[Use], stock: Stock) -> float:
    """Of a plan."""
    return float(sum(Fraction(stock.costs[kind]) * rolls for _, rolls, kind in uses))


def best_of(plans: Iterable[list[Use] | None], stock: Stock, over: Callable[[], bool]) -> list[Use] | None:
    """The cheapest of some plans, as far as there is time to make them."""
    best: list[Use] | None = None
    for plan in plans:
        if plan is not None and (best is None or cost(plan, stock) < cost(best, stock)):
            best = plan
        if over():
            break
    return best
