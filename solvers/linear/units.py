"""Conversion between the units of a caller and those of a solver, in one pass each.

These kernels do not validate types: arrays are float64, row numbers int32 or int64, all contiguous.
"""

from __future__ import annotations

import numpy as np
from numba import types

from colgen.solvers.columns.compressed import FLOAT, FLOATS, NUMBERS, POSITIONS, typed
from colgen.solvers.sorting import median

_ENTRIES = types.Tuple((types.boolean, types.boolean, FLOAT, FLOAT[::1], FLOAT[::1]))
_OPTIMUM = types.Tuple((FLOAT, FLOAT[::1], FLOAT[::1], FLOAT[::1]))


@typed(*(_ENTRIES(FLOATS, rows, FLOATS, FLOATS, FLOAT) for rows in (NUMBERS, POSITIONS)))
def to_solver(costs, rows, values, row_factors, factor):  # type: ignore[no-untyped-def]
    """Convert columns to the solver's units; ``row_factors`` applies to rows, ``factor`` to costs.

    Return whether all numbers are finite, whether all rows exist, the largest cost, scaled costs, and scaled entries.
    """
    finite, there, largest = True, True, 0.0
    scaled_costs, scaled_values = np.empty(len(costs)), np.empty(len(values))
    for j in range(len(costs)):
        finite = finite and np.isfinite(costs[j])
        largest = max(largest, abs(costs[j]))
        scaled_costs[j] = costs[j] * factor
    for entry in range(len(values)):
        finite = finite and np.isfinite(values[entry])
        if 0 <= rows[entry] < len(row_factors):
            scaled_values[entry] = values[entry] * row_factors[rows[entry]]
        else:
            there = False
    return finite, there, largest, scaled_costs, scaled_values


@typed(_OPTIMUM(FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOAT))
def from_solver(values, duals, reduced_costs, costs, units, row_factors, factor):  # type: ignore[no-untyped-def]
    """Convert an optimum to the caller's units; ``units`` are those of the columns in the solver.

    Return the median of the nonzero costs of used columns in solver units, or 0; values; dual values; reduced costs.
    """
    used, count = np.empty(len(values)), 0
    own_values, own_reduced = np.empty(len(values)), np.empty(len(values))
    for j in range(len(values)):
        cost = abs(costs[j] * units[j])
        if values[j] != 0.0 and cost != 0.0:
            used[count] = cost
            count += 1
        own_values[j] = values[j] * units[j]
        own_reduced[j] = reduced_costs[j] / units[j] / factor
    own_duals = np.empty(len(duals))
    for i in range(len(duals)):
        own_duals[i] = duals[i] * row_factors[i] / factor
    typical = median(used, count) if count else 0.0
    return typical, own_values, own_duals, own_reduced
