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
    starts, items = [0], list[int]()
    for column in columns:
        entries, coefficients = master.entries(column)
        if column.lower != 0.0 or column.upper < 1.0 or not column.integer or any(a != 1.0 for a in coefficients):
            raise FormulationError(
                f"the columns of a covering are whole, with coefficients 1: that of {column.structure!r} is not"
            )
        items += [place for place in covered[entries].tolist() if place >= 0]
        starts.append(len(items))
    costs = np.array([column.cost for column in columns])
    prices = np.array([max(values.get(master.names.keys[row], 0.0), 0.0) for row in rows.tolist()])
    worst = (target - f.offset) + TOLERANCES.optimality * size(master.scale, target)
    unit = math.ldexp(power_of_two(np.concatenate([costs, prices])), -_EXPONENT)
    deadline = time.monotonic() + time_limit
    found = cover(
        np.array(starts, dtype=np.int64),
        np.array(items, dtype=np.int64),
        np.floor(costs / unit).astype(np.int64),
        np.floor(prices / unit).astype(np.int64),
        math.ceil(worst / unit),
        expired=lambda: time.monotonic() >= deadline or (stopped is not None and stopped()),
    )
    if not found.found:
        return (MasterStatus.INFEASIBLE if found.finished else MasterStatus.LIMIT), None
    chosen = tuple((columns[k], 1.0) for k in found.chosen.tolist())
    solution = Solution(float(costs[found.chosen].sum()) + f.offset, chosen)
    return (MasterStatus.OPTIMAL if any_will_do else MasterStatus.LIMIT), solution
