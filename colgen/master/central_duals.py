"""Selection among optimal dual solutions: a central one, or the vertex that the simplex method returns."""

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

_DROWNED = TOLERANCES.pruning / ROUNDING
"""Dual values so many times the scale of the objective leave a bound by them too inexact to prune by."""


_TRIES = 3
"""So often are dual values from the interior made exact; beyond, the corner's will do."""


def without_penalties(tableau: Tableau, idle: IdleColumns, solved: LPSolution, budget: Budget) -> LPSolution:
    """The same optimum with other dual values, where those of penalties that nobody pays drown all the rest.

    At a degenerate optimum a column of enormous cost may be basic at zero, and its cost a dual value.  Without such
    columns the optimum is the same, and its dual values keep them out all the more.
    """
    table, rows, program, objective = tableau
    drowning = _DROWNED * objective.scale
    if objective.phase == 1 or len(rows.idle.out) or not rows.largest(solved.duals) > drowning:
        return solved
    free = (table.lower_now <= 0.0) & (table.upper_now > 0.0) & ~table.artificial
    dear = np.abs(table.costs) > drowning
    unpaid = np.flatnonzero(free & (np.abs(solved.values) <= TOLERANCES.pruning) & dear & (table.place >= 0))
    if not len(unpaid):
        return solved
    other = program.solve_without(unpaid, budget)
    if other.status is not LPStatus.OPTIMAL or len(idle.wanted(other.duals)):
        return solved
    gains = objective.sense.gains(table.costs - table.row_products(other.duals))[unpaid]
    gains = np.where(table.lower_now[unpaid] < 0.0, np.abs(gains), gains)
    return other if (gains <= 0.0).all() else solved


def central_duals(tableau: Tableau, solved: LPSolution, time_limit: float) -> Floats:
    """Dual values from the interior, made exact where complementary slackness says what they must be."""
    table, rows, program, objective = tableau
    duals = program.lp.interior_duals(time_limit)
    if duals is None:
        return solved.duals
    costs, sizes = objective.costs, rows.sizes
    # Far below the tolerance that a reduced cost improves by, whatever scale that one is relative to: an oracle that
    # finds a column of the master improving has nothing to add, and nothing to prove either.
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
        # By the rows' sizes, so that no row's dual value changes more than another's for its units.
        matrix = (table.matrix(np.flatnonzero(tight), len(rows)).toarray()[binding] / sizes[binding, None]).T
        scaled = duals[binding] * sizes[binding]
        duals[binding] = (scaled + np.linalg.lstsq(matrix, costs[tight] - matrix @ scaled)[0]) / sizes[binding]
        duals = rows.signed(duals, objective.sense)
        gains = objective.sense.gains(costs - table.row_products(duals))
        # At its upper bound a column must improve, or it would be used less.
        gains = np.where(between, np.abs(gains), np.where(below, gains, np.where(above, -gains, 0.0)))
        improving = gains > near
        if not improving.any():
            break
        tight |= improving  # in the middle, a column that nearly improves is one of another optimum: exactly at zero
    slack = np.where(objective.sense.sign * duals > 0.0, over, under)[duals != 0.0]
    unpaid = float(np.abs(duals[duals != 0.0] * slack).sum())
    optimal = not improving.any() and unpaid <= TOLERANCES.reduced_cost * size(objective.scale, solved.objective)
    drowned = rows.largest(duals) > _DROWNED * objective.scale >= rows.largest(solved.duals)
    return duals if optimal and not drowned else solved.duals


Central: TypeAlias = bool | Literal["auto"]

_ORDER = (False, True, True, False)
"""Corners and middles in a trial, so that neither has the rounds of more progress; it is run through twice."""

_LASTS = 24
"""For so many solves the first verdict holds; each lasts twice as long as the last one, for a trial costs rounds."""

_WORTH = 2.0
"""A middle must bring the objective on by so many times what a corner does: it takes an interior point method besides.
On generalized assignment, where it saves an eighth of the rounds, each of them took five to ten times as long."""


class Centrality:
    """Chooses for each solve of phase 2 where its dual values are taken from.

    With ``"auto"`` both ways take turns over a few rounds, and what the objective gains after each is added up.  The
    way that gains more per solve, central dual values by far, is kept until the next trial.  It counts gains and
    solves, never seconds: a run comes out the same on every machine.

    Parameters
    ----------
    central
        Always, never, or as trials tell.

    Raises
    ------
    InputError
        If it is something else.
    """

    def __init__(self, central: Central) -> None:
        if not isinstance(central, bool) and central != "auto":
            raise InputError(f"central: expected True, False or 'auto', not {central!r}")
        self._tries = central == "auto"
        self._kept = central is True
        self._trial: list[bool] = list(2 * _ORDER) if self._tries else []
        self._gained = {False: 0.0, True: 0.0}
        self._last: tuple[bool, float] | None = None
        self._left, self._lasts = 0, _LASTS

    def next(self, objective: float, sign: float) -> bool:
        """Whether this solve's dual values are to be central; ``objective`` is what it has found."""
        if not self._tries:
            return self._kept
        if self._last is not None:
            # At another node, or under new rows, an objective gets worse: that is nobody's doing.
            before, was = self._last[1], self._last[0]
            self._gained[was] += max(sign * (before - objective), 0.0)
            self._last = None
        if not self._trial:
            if self._left == 0:
                self._trial = list(2 * _ORDER)
                self._gained = {False: 0.0, True: 0.0}
            else:
                self._left -= 1
                return self._kept
        chosen = self._trial.pop()
        self._last = chosen, objective
        if not self._trial:  # the last one's gain is not known yet, and a trial is not held up for it
            self._kept = self._gained[True] > _WORTH * self._gained[False]
            self._left, self._lasts = self._lasts, 2 * self._lasts
        return chosen
