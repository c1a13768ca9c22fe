"""Kinds of rolls: supply rows, the reduced cost of a roll, branching on the number of rolls used."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Duals, OnOriginalVariable, PricingContext, Solution
from colgen.core.tolerances import TOLERANCES
from colgen.fixing import ReductionContext
from colgen.problems.cutting_stock.instance import Pattern, Stock, Use

SUPPLY = "supply"
"""Block of the rows of limited kinds of rolls."""

USED = "used"
"""Block of the branching rows on how many rolls of a kind are used."""


class RollKind:
    """One kind of roll in the pricing problems; ``number`` is its index in the stock of the model."""

    def __init__(self, number: int, stock: Stock, pieces: int) -> None:
        self.number = number
        self.width, self.cost = stock.widths[number], stock.costs[number]
        self.limited = not math.isinf(stock.limits[number])
        self.alone = len(stock.widths) == 1  # no branching on the number of its rolls
        # Infinite if rolls have a cost, as Farley's bound needs no multiplicity; else at least one, as oracles need a
        # positive one.  The supply row limits the number of rolls.
        self.multiplicity = math.inf if self.cost > 0.0 else max(min(stock.limits[number], float(pieces)), 1.0)

    def charge(self, duals: Duals, context: PricingContext) -> float:
        """Return the reduced cost of a roll without pieces; infinite if the kind is forbidden."""
        cost = context.cost_weight * self.cost - (duals.get((SUPPLY, self.number)) if self.limited else 0.0)
        if self.alone:
            return cost
        if self.number in context.forbidden(USED):
            return math.inf
        return cost - dict(duals.items(USED)).get(self.number, 0.0)

    def least_earnings(self, charge: float, theta: float, context: ReductionContext) -> float:
        """Return the least earnings of a column that a better plan may use.

        Such columns satisfy θ (charge - earned) + (1 - θ) c_k ≤ slack, where θ is Farley's factor on the dual values.
        """
        spare = context.slack + TOLERANCES.optimality * max(self.cost, context.scale)
        return charge + (1.0 - theta) / theta * self.cost - spare / theta

    def rows(self, duals: Duals) -> NDArray[np.int64]:
        """Return the number of the supply row of this kind, if it has one."""
        if not self.limited:
            return np.zeros(0, dtype=np.int64)
        numbers: NDArray[np.int64] = duals.rows(SUPPLY)[[duals.members(SUPPLY).index(self.number)]]
        return numbers

    def coefficients(self) -> Mapping[tuple[str, int], float]:
        """Return the coefficient in the supply row of this kind, if it has one."""
        return {(SUPPLY, self.number): 1.0} if self.limited else {}


def kind_of(column: Column) -> Mapping[int, float]:
    """Return the kind of roll of a column as an original variable."""
    return {column.structure[0]: 1.0}


class OnRollsUsed(OnOriginalVariable):
    """Branch on the number of rolls of each kind, which is integer in every plan and decides its cost."""

    def __init__(self) -> None:
        super().__init__(kind_of, block=USED)


def assign(widths: Sequence[int], lengths: Sequence[tuple[int, Pattern, int]], solution: Solution) -> list[Use] | None:
    """Assign patterns to the rolls that a fractional solution uses, if their number is integer for each kind.

    Long patterns are assigned to wide rolls first; if that fails, no assignment exists, and None is returned.
    ``lengths`` has the width of each pattern, the pattern, and its number of rolls.
    """
    used = np.zeros(len(widths))
    for column, value in solution.columns:
        used[column.structure[0]] += value
    left = {k: round(number) for k, number in enumerate(used.tolist())}
    if any(abs(left[k] - number) > 1e-6 for k, number in enumerate(used.tolist())):
        return None
    kinds = sorted(left, key=lambda k: -widths[k])
    uses: list[Use] = []
    for width, pattern, wanted in sorted(lengths, key=lambda entry: -entry[0]):
        while wanted:
            while kinds and not left[kinds[0]]:
                kinds.pop(0)
            if not kinds or widths[kinds[0]] < width:
                return None
            rolls = min(wanted, left[kinds[0]])
            uses.append((pattern, rolls, kinds[0]))
            left[kinds[0]] -= rolls
            wanted -= rolls
    return uses
