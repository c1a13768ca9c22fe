"""The present objective of a linear master: violations in phase 1, real costs in phase 2."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator

import numpy as np

from colgen.core.duals import Duals
from colgen.core.sense import Sense
from colgen.master.column_pool import Floats
from colgen.master.column_table import ColumnTable
from colgen.master.program import MasterProgram
from colgen.master.rows import MasterRows
from colgen.solvers.linear.scaling import typical_size
from colgen.solvers.scaling import power_of_two

_WIDEST = 2.0**24
"""Maximum ratio of costs to the scale at which a program is solved."""

_LEFT = 2.0**-28
"""Error of reduced costs after a solve, relative to that scale: four times the solver's tolerance."""


class PresentObjective:
    """The objective of the present phase, its scale and its reduced costs.

    ``phase`` is 1 while artificial variables are positive, otherwise 2; also before the first solve, when the real
    objective is used.  ``rounding`` is the rounding error of a reduced cost at the present dual values.
    """

    def __init__(
        self, sense: Sense, constant: float, table: ColumnTable, rows: MasterRows, program: MasterProgram
    ) -> None:
        self.sense = sense
        self.phase = 2
        self.rounding = 0.0
        self._constant = constant
        self._table, self._rows, self._program = table, rows, program
        self._scale_of_guess: float | None = None
        self._scale_of_columns = (0, 0.0)
        self._finest = {1: math.inf, 2: math.inf}
        self._last_products: tuple[Duals | None, tuple[int, int], Floats] = (None, (0, 0), np.empty(0))

    @property
    def costs(self) -> Floats:
        if self.phase == 2:
            return self._table.costs
        return self.sense.sign * self._table.weights

    @property
    def constant(self) -> float:
        return self._constant if self.phase == 2 else 0.0

    @property
    def scale(self) -> float:
        """Typical size of costs, a power of two; in phase 1 of scaled violations."""
        if self._scale_of_guess is not None:
            return self._scale_of_guess
        if self.phase == 1:
            return min(1.0, self.finest)
        return self._program.lp.cost_scale if self._program.is_built else self.real_scale

    @property
    def real_scale(self) -> float:
        """Typical size of the real costs, computed from the columns before phase 2 is solved."""
        if self._program.is_built and self.phase == 2:
            return self._program.lp.cost_scale
        known, count = self._scale_of_columns, len(self._table)
        if known[0] != count:
            known = self._scale_of_columns = count, typical_size(self._table.costs, 0.0)
        return known[1]

    @property
    def finest(self) -> float:
        """The smallest scale that the present phase was refined to; infinite if it was not."""
        return self._finest[self.phase]

    @property
    def negligible(self) -> float:
        """Reduced costs up to this count as zero, even if any number of columns has them.

        This is the rounding error or, after a refinement, the solver's error at the smaller scale.
        """
        left = 0.0 if math.isinf(self.finest) else _LEFT * self.finest
        return max(self.rounding, left)

    def refine(self, gain: float) -> bool:
        """Solve at the scale of a small gain from now on.  Return whether it is below the present scale."""
        largest = float(np.abs(self.costs).max(initial=0.0))
        scale = max(power_of_two(gain), power_of_two(largest) / _WIDEST)
        if not gain > self.negligible or scale >= (self.scale or math.inf):
            return False
        self._finest[self.phase] = scale
        self._program.refine(scale)
        return True

    def products(self, duals: Duals) -> Floats:
        """Return πᵀa_j of all columns; cached, because a round uses them several times."""
        last, size, products = self._last_products
        now = (len(self._table), len(self._rows))
        if last is not duals or size != now:
            products = self._table.row_products(duals.values)
            self._last_products = (duals, now, products)
        return products

    def reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Return the reduced costs of all columns at θπ."""
        products = self.products(duals)
        return self.costs - (products if theta == 1.0 else theta * products)

    def enter(self, phase: int, residual: Floats | None = None) -> None:
        """Begin a phase, with artificial variables free, or fixed at their values in ``residual``."""
        self.phase = phase
        table = self._table
        artificial = np.flatnonzero(table.artificial)
        upper = np.full(len(artificial), np.inf)
        if residual is not None:
            upper = np.maximum(residual[artificial], 0.0)
        table.upper_now[artificial] = upper
        if len(table.exchange):  # in phase 1 exchanges must not replace violations
            table.upper_now[table.exchange] = np.inf if phase == 2 and table.exchanging else 0.0
            upper = table.upper_now[artificial]
        self._program.change_objective(self.costs, self.constant)
        self._program.refine(self.finest)
        self._program.change_bounds(artificial, np.zeros(len(artificial)), upper)

    def exchange(self, free: bool) -> None:
        """Free the template's exchanges in phase 2 from now on, or fix them at zero."""
        table = self._table
        if table.exchanging == free or not len(table.exchange):
            return
        table.exchanging = free
        if self.phase == 2:
            upper = np.full(len(table.exchange), np.inf if free else 0.0)
            table.upper_now[table.exchange] = upper
            self._program.change_bounds(table.exchange, np.zeros(len(upper)), upper)

    @contextlib.contextmanager
    def real(self) -> Iterator[None]:
        """Use real costs inside, also in phase 1.  Nothing is solved."""
        table, phase = self._table, self.phase
        if phase == 2:
            yield
            return
        self._scale_of_guess = self.real_scale or 1.0
        limits = table.upper_now[table.artificial]
        self.phase, table.upper_now[table.artificial] = 2, 0.0
        try:
            yield
        finally:
            self.phase, self._scale_of_guess = phase, None
            table.upper_now[table.artificial] = limits
