r"""Initial dual values, from the material and from dual-feasible functions, which give better bounds.

A function f from [0, 1] to [0, 1] is *dual feasible* if Σ f(x_j) ≤ 1 for all numbers x_j with sum at most 1.  Then
π_i = f(w_i / C) prices no pattern above its roll, and Σ_i f(w_i / C) d_i rolls are needed.  The best member of each of
two families is found by trying the parameters at which it changes:

* for ε up to 1/2: f(x) is 1 above 1 - ε, 0 below ε, and x between;
* for k = 1, 2, ...: f(x) is x if (k + 1) x is integer, else ⌊(k + 1) x⌋ / k.

Source: S. P. Fekete, J. Schepers, *New classes of fast lower bounds for bin packing problems*, Mathematical Programming
91 (2001).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Stock

_MULTIPLES = 50
"""Members tried of the second family: larger k round so little that f is nearly the identity."""

_TRIED = 200
"""Maximum number of members tried of the first family: each is a pass over all items."""


def dual_feasible(instance: CuttingStockInstance) -> list[Fraction]:
    """Return the items' dual values by the dual-feasible function with the best bound, at least the material bound."""
    values, unit = _best_function(instance)
    return [Fraction(value, unit) for value in values]


def _best_function(instance: CuttingStockInstance) -> tuple[list[int], int]:
    """Return the values of the best function, one per item, and the unit that they are counted in."""
    roll, pieces = instance.roll, sum(instance.demands)
    exact = np.int64 if _MULTIPLES * (_MULTIPLES + 1) * roll * pieces < 2**62 else object  # then Python's integers
    widths, demands = np.array(instance.widths, dtype=exact), np.array(instance.demands, dtype=exact)
    # In units of 1 / C.  The first function is the identity.
    narrow = np.unique(widths[2 * widths < roll])
    ends = np.concatenate([[0], narrow[:: len(narrow) // _TRIED + 1]])[:, None]  # ε is a little more
    rounded = np.where(widths >= roll - ends, roll, np.where(widths > ends, widths, 0))
    rounded[0] = widths
    totals = rounded @ demands
    first = int(totals.argmax())
    # In units of 1 / (k C).
    multiples = np.arange(1, _MULTIPLES + 1).astype(exact)[:, None]
    longer = widths * (multiples + 1)
    below = longer // roll * roll
    parts = np.where(below < longer, below, widths * multiples)
    best, values, unit = int(totals[first]), rounded[first], 1
    for k, total in enumerate((parts @ demands).tolist(), start=1):
        if total * unit > best * k:
            best, values, unit = total, parts[k - 1], k
    return values.tolist(), unit * roll


def material_duals(instance: CuttingStockInstance, stock: Stock) -> tuple[list[float], dict[int, float]]:
    """Return dual values of the items and of the limited kinds of rolls that prove the material bound on the cost.

    They solve min Σ c_k X_k over Σ C_k X_k ≥ W, 0 ≤ X_k ≤ s_k.  Rolls are used in order of cost per unit of width.  The
    last one used sets the value of a unit.  The supplies of cheaper kinds have the difference as dual value.
    With one unlimited kind, dual-feasible functions may prove more.
    """
    if stock.widths == (instance.roll,) and math.isinf(stock.limits[0]):
        values, one = _best_function(instance)
        return [stock.costs[0] * (value / one) for value in values], {}
    left = sum(w * d for w, d in zip(instance.widths, instance.demands, strict=True))
    unit = 0.0
    for k in sorted(range(len(stock.widths)), key=lambda k: Fraction(stock.costs[k]) / stock.widths[k]):
        unit = stock.costs[k] / stock.widths[k]
        if math.isinf(stock.limits[k]) or stock.limits[k] * stock.widths[k] >= left:
            break
        left -= int(stock.limits[k]) * stock.widths[k]
    limited = [k for k, limit in enumerate(stock.limits) if not math.isinf(limit)]
    supplies = {k: min(stock.costs[k] - unit * stock.widths[k], 0.0) for k in limited}
    return [unit * width for width in instance.widths], supplies
