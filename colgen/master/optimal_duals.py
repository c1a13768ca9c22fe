"""Which of several optimal dual values: those in the middle, and those that no unpaid penalty drowns."""

from __future__ import annotations

import numpy as np

from colgen.core.budget import Budget
from colgen.core.tolerances import ROUNDING, TOLERANCES, size
from colgen.master.idle_columns import IdleColumns
from colgen.master.pool import Floats
from colgen.master.tableau import Tableau
from solvers.linear.lp import LPSolution, LPStatus

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
