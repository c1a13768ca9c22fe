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
from collections.abc import Sequence
from fractions import Fraction

from colgen.problems.cutting_stock.instance import CuttingStockInstance, Stock

_MULTIPLES = 50
"""Members tried of the second family: larger k round so little that f is nearly the identity."""

_TRIED = 200
"""Maximum number of members tried of the first family: each is a pass over all items."""


def dual_feasible(instance: CuttingStockInstance) -> list[Fraction]:
    """Return the items' dual values by the dual-feasible function with the best bound, at least the material bound."""
    roll, widths, demands = instance.roll, instance.widths, instance.demands
    best, values = _total(widths, demands, roll), [Fraction(width, roll) for width in widths]
    narrow = sorted({width for width in widths if 2 * width < roll})
    for small in narrow[:: len(narrow) // _TRIED + 1]:  # ε is a little more
        rounded = [roll if width >= roll - small else width if width > small else 0 for width in widths]
        if (total := _total(rounded, demands, roll)) > best:
            best, values = total, [Fraction(part, roll) for part in rounded]
    for k in range(1, _MULTIPLES + 1):
        # In units of 1 / (k C).
        parts = [divmod(width * (k + 1), roll) for width in widths]
        rounded = [
            quotient * roll if rest else width * k for width, (quotient, rest) in zip(widths, parts, strict=True)
        ]
        if (total := _total(rounded, demands, k * roll)) > best:
            best, values = total, [Fraction(part, k * roll) for part in rounded]
    return values


def _total(values: Sequence[int], demands: Sequence[int], unit: int) -> Fraction:
    return Fraction(sum(value * demand for value, demand in zip(values, demands, strict=True)), unit)


def material_duals(instance: CuttingStockInstance, stock: Stock) -> tuple[list[float], dict[int, float]]:
    """Return dual values of the items and of the limited kinds of rolls that prove the material bound on the cost.

    They solve min Σ c_k X_k over Σ C_k X_k ≥ W, 0 ≤ X_k ≤ s_k.  Rolls are used in order of cost per unit of width.  The
    last one used sets the value of a unit.  The supplies of cheaper kinds have the difference as dual value.
    With one unlimited kind, dual-feasible functions may prove more.
    """
    if stock.widths == (instance.roll,) and math.isinf(stock.limits[0]):
        return [stock.costs[0] * float(value) for value in dual_feasible(instance)], {}
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
