"""What a linear master optimises at present: violations in phase 1, the real costs in phase 2."""

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
"""Costs cannot be so many times the scale that a program is solved at."""

_LEFT = 2.0**-28
"""The share of that scale that a solver leaves of reduced costs: four times its tolerance."""


class PresentObjective:
    """The objective of the present phase, its size, and reduced costs by it.

    Attributes
    ----------
    phase
        1 while artificial variables are driven out, else 2; until the first solve too, so that what is asked before it
        is asked of the real objective.
    rounding
        What rounding may leave of a reduced cost at the present dual values.
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
        """Of all columns."""
        if self.phase == 2:
            return self._table.costs
        return self.sense.sign * self._table.weights

    @property
    def constant(self) -> float:
        """What is added to all that columns cost."""
        return self._constant if self.phase == 2 else 0.0

    @property
    def scale(self) -> float:
        """The size of the costs that answers are made of, a power of two; in phase 1 that of a scaled violation."""
        if self._scale_of_guess is not None:
            return self._scale_of_guess
        if self.phase == 1:
            return min(1.0, self.finest)
        return self._program.lp.cost_scale if self._program.is_built else self.real_scale

    @property
    def real_scale(self) -> float:
        """The size of the real costs, known from the columns alone before phase 2 is solved."""
        if self._program.is_built and self.phase == 2:
            return self._program.lp.cost_scale
        known, count = self._scale_of_columns, len(self._table)
        if known[0] != count:
            known = self._scale_of_columns = count, typical_size(self._table.costs, 0.0)
        return known[1]

    @property
    def finest(self) -> float:
        """The smallest scale that the present phase has been refined to; infinite if it never was."""
        return self._finest[self.phase]

    @property
    def negligible(self) -> float:
        """What may be left of a reduced cost that counts as zero though any number of columns may have it.

        Rounding, and once the program is solved at a smaller scale on that account, what its solver leaves there.
        """
        left = 0.0 if math.isinf(self.finest) else _LEFT * self.finest
        return max(self.rounding, left)

    def refine(self, gain: float) -> bool:
        """Solve at the scale of a gain that is small beside the present one; False if that is no smaller."""
        largest = float(np.abs(self.costs).max(initial=0.0))
        scale = max(power_of_two(gain), power_of_two(largest) / _WIDEST)
        if not gain > self.negligible or scale >= (self.scale or math.inf):
            return False
        self._finest[self.phase] = scale
        self._program.refine(scale)
        return True

    def products(self, duals: Duals) -> Floats:
        """πᵀa_j of all columns; they are remembered, for a round asks for them more than once."""
        asked, size, products = self._last_products
        now = (len(self._table), len(self._rows))
        if asked is not duals or size != now:
            products = self._table.row_products(duals.values)
            self._last_products = (duals, now, products)
        return products

    def reduced_costs(self, duals: Duals, theta: float = 1.0) -> Floats:
        """Of all columns at θπ."""
        products = self.products(duals)
        return self.costs - (products if theta == 1.0 else theta * products)

    def enter(self, phase: int, residual: Floats | None = None) -> None:
        """Begin a phase, with artificial variables free or fixed where ``residual`` has them."""
        self.phase = phase
        table = self._table
        artificial = np.flatnonzero(table.artificial)
        upper = np.full(len(artificial), np.inf)
        if residual is not None:
            upper = np.maximum(residual[artificial], 0.0)
        table.upper_now[artificial] = upper
        if len(table.exchange):  # what could be exchanged for what is no violation
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
        """Count real costs inside, also in phase 1, without solving anything."""
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
