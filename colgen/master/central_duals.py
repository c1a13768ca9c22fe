"""Choose among optimal dual solutions: a central one, or the vertex that the simplex method returns."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from colgen.core.budget import Budget
from colgen.core.errors import InputError
from colgen.core.tolerances import ROUNDING, TOLERANCES, size
from colgen.master.column_pool import Floats
from colgen.master.idle_columns import IdleColumns
from colgen.master.tableau import Tableau
from colgen.solvers.linear.lp import LPSolution, LPStatus

_TOO_LARGE = TOLERANCES.pruning / ROUNDING
"""Dual values above this multiple of the objective's scale make bounds too inexact."""


_TRIES = 3
"""Maximum number of corrections of interior dual values; after that the vertex is used."""


def avoid_penalties(tableau: Tableau, idle: IdleColumns, solved: LPSolution, budget: Budget) -> LPSolution:
    """Return the same optimum with smaller dual values than those of unused penalties.

    At a degenerate optimum a column of very large cost may be basic at zero, so that its cost is a dual value.  Without
    such columns the optimum is the same.
    """
    table, rows, program, objective = tableau
    limit = _TOO_LARGE * objective.scale
    if objective.phase == 1 or len(rows.idle.out) or not rows.largest(solved.duals) > limit:
        return solved
    free = (table.lower_now <= 0.0) & (table.upper_now > 0.0) & ~table.artificial
    expensive = np.abs(table.costs) > limit
    unpaid = np.flatnonzero(free & (np.abs(solved.values) <= TOLERANCES.pruning) & expensive & (table.place >= 0))
    if not len(unpaid):
        return solved
    other = program.solve_without(unpaid, budget)
    if other.status is not LPStatus.OPTIMAL or len(idle.find_improving(other.duals)):
        return solved
    gains = objective.sense.gains(table.costs - table.row_products(other.duals))[unpaid]
    gains = np.where(table.lower_now[unpaid] < 0.0, np.abs(gains), gains)
    return other if (gains <= 0.0).all() else solved


def central_duals(tableau: Tableau, solved: LPSolution, time_limit: float) -> Floats:
    """Return interior dual values, corrected to satisfy complementary slackness."""
    table, rows, program, objective = tableau
    duals = program.lp.interior_duals(time_limit)
    if duals is None:
        return solved.duals
    costs, sizes = objective.costs, rows.sizes
    # Far below the tolerance of improving reduced costs at any scale: otherwise an oracle could find a column of the
    # master improving, and neither add it nor prove a bound.
    inside, near = TOLERANCES.pruning, TOLERANCES.pruning * objective.scale
    between = (solved.values > table.lower_now + inside) & (solved.values < table.upper_now - inside)
    below = table.upper_now > solved.values + inside
    above = solved.values > table.lower_now + inside
    activity = table.activities(solved.values, len(rows))
    over, under = activity - rows.lower, rows.upper - activity
    binding = np.minimum(over, under) <= TOLERANCES.feasibility * np.maximum(sizes, np.abs(activity))
    duals = np.where(binding, duals, 0.0)
    tight = between.copy()
    for _ in range(_TRIES):
        # Scaled by the rows' sizes, so that units of rows do not matter.
        matrix = (table.matrix(np.flatnonzero(tight), len(rows)).toarray()[binding] / sizes[binding, None]).T
        scaled = duals[binding] * sizes[binding]
        duals[binding] = (scaled + np.linalg.lstsq(matrix, costs[tight] - matrix @ scaled)[0]) / sizes[binding]
        duals = rows.signed(duals, objective.sense)
        gains = objective.sense.gains(costs - table.row_products(duals))
        # A column at its upper bound must improve.
        gains = np.where(between, np.abs(gains), np.where(below, gains, np.where(above, -gains, 0.0)))
        improving = gains > near
        if not improving.any():
            break
        tight |= improving  # nearly improving columns belong to another optimum: their reduced cost must be zero
    slack = np.where(objective.sense.sign * duals > 0.0, over, under)[duals != 0.0]
    unpaid = float(np.abs(duals[duals != 0.0] * slack).sum())
    optimal = not improving.any() and unpaid <= TOLERANCES.reduced_cost * size(objective.scale, solved.objective)
    large = rows.largest(duals) > _TOO_LARGE * objective.scale >= rows.largest(solved.duals)
    return duals if optimal and not large else solved.duals


Central: TypeAlias = bool | Literal["auto"]

_ORDER = (False, True, True, False)
"""Order of both ways in one half of a trial, so that neither has an advantage from its rounds."""

_PERIOD = 24
"""Number of solves until the next trial.  It doubles each time, because a trial costs rounds."""

_WORTH = 2.0
"""Central dual values must gain this multiple of what vertices gain, since they need an interior point method too.  On
generalized assignment they save 1/8 of the rounds, but each round took 5 to 10 times as long."""


class Centrality:
    """Chooses for each solve of phase 2 whether its dual values are central: always, never, or (``"auto"``) by trials.

    In a trial both ways alternate over a few rounds, and their gains of the objective are added up.  The way that gains
    more (central dual values by the factor ``_WORTH``) is used until the next trial.  The choice depends on gains and
    solves, not on time, so that runs are reproducible.
    """

    def __init__(self, central: Central) -> None:
        if not isinstance(central, bool) and central != "auto":
            raise InputError(f"central: expected True, False or 'auto', not {central!r}")
        self._tries = central == "auto"
        self._choice = central is True
        self._trial: list[bool] = list(2 * _ORDER) if self._tries else []
        self._gains = {False: 0.0, True: 0.0}
        self._last: tuple[bool, float] | None = None
        self._left, self._period = 0, _PERIOD

    def next(self, objective: float, sign: float) -> bool:
        """Return whether this solve's dual values should be central.  ``objective`` is its optimum."""
        if not self._tries:
            return self._choice
        if self._last is not None:
            # At another node or with new rows an objective gets worse, which does not count.
            before, was = self._last[1], self._last[0]
            self._gains[was] += max(sign * (before - objective), 0.0)
            self._last = None
        if not self._trial:
            if self._left == 0:
                self._trial = list(2 * _ORDER)
                self._gains = {False: 0.0, True: 0.0}
            else:
                self._left -= 1
                return self._choice
        chosen = self._trial.pop()
        self._last = chosen, objective
        if not self._trial:  # the gain of the last solve is unknown yet; the trial does not wait for it
            self._choice = self._gains[True] > _WORTH * self._gains[False]
            self._left, self._period = self._period, 2 * self._period
        return chosen
