"""Whole solutions of a covering program over given columns: depth first, by dual values."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

import numpy as np

from colgen.core.columns import Column, Key
from colgen.core.errors import FormulationError
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, power_of_two, size
from colgen.master.listing import listed
from colgen.master.protocol import MasterStatus
from colgen.master.tabular import TabularMaster
from solvers.linear.lp import Stopped
from solvers.packing.covering import cover

_EXPONENT = 32
"""Costs and values become whole multiples of 2 to the minus this, relative to the largest of them."""


def cover_over(
    master: TabularMaster,
    columns: Sequence[Column],
    values: Mapping[Key, float],
    target: float,
    time_limit: float,
    any_will_do: bool,
    stopped: Stopped | None = None,
) -> tuple[MasterStatus, Solution | None]:
    """Whether given columns cover the rows at no more than ``target``, at the present node.

    Costs are rounded down and the target up, so that what has no cover in whole numbers has none.

    Parameters
    ----------
    values
        Dual values of rows, which none of the columns earns much more than its cost at.

    Raises
    ------
    FormulationError
        If the program is no covering: rows ≥ 1, coefficients 1, whole columns that cost something, minimised.
    """
    f = master.formulation
    if master.sense is not Sense.MINIMIZE or not f.artificial.all():
        raise FormulationError("a covering is minimised, over columns alone: leave Enumerated.values out")
    rows, covered = np.flatnonzero(master.rows.lower > 0.0), np.full(master.num_rows, -1, dtype=np.int64)
    if not (master.rows.lower[rows] == 1.0).all() or not np.isposinf(master.rows.upper).all():
        raise FormulationError("the rows of a covering are ≥ 1: leave Enumerated.values out where others are")
    covered[rows] = np.arange(len(rows))
    deadline = time.monotonic() + time_limit
    expired: Stopped = lambda: time.monotonic() >= deadline or (stopped is not None and stopped())  # noqa: E731
    given = listed(master, columns, expired)
    if given is None:
        return MasterStatus.LIMIT, None
    matrix, costs = given.matrix, given.costs
    fits = (given.lower == 0.0) & (given.upper >= 1.0) & given.integer
    fits[np.repeat(np.arange(len(columns)), np.diff(matrix.indptr))[matrix.data != 1.0]] = False
    if not fits.all():
        bad = given.columns[int(np.argmin(fits))]
        raise FormulationError(
            f"the columns of a covering are whole, with coefficients 1: that of {bad.structure!r} is not"
        )
    places = covered[matrix.indices]
    starts = np.concatenate([[0], np.cumsum(places >= 0)])[matrix.indptr]
    prices = np.array([max(values.get(master.names.keys[row], 0.0), 0.0) for row in rows.tolist()])
    worst = (target - f.offset) + TOLERANCES.optimality * size(master.scale, target)
    unit = math.ldexp(power_of_two(np.concatenate([costs, prices])), -_EXPONENT)
    found = cover(
        starts.astype(np.int64),
        places[places >= 0].astype(np.int64),
        np.floor(costs / unit).astype(np.int64),
        np.floor(prices / unit).astype(np.int64),
        math.ceil(worst / unit),
        expired=expired,
    )
    if not found.found:
        return (MasterStatus.INFEASIBLE if found.finished else MasterStatus.LIMIT), None
    chosen = tuple((given.columns[k], 1.0) for k in found.chosen.tolist())
    solution = Solution(float(costs[found.chosen].sum()) + f.offset, chosen)
    return (MasterStatus.OPTIMAL if any_will_do else MasterStatus.LIMIT), solution
