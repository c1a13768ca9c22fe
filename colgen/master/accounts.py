"""A reduced cost by its parts: what the column's own cost and each block of rows count for."""

from __future__ import annotations

import math
from collections.abc import Mapping

from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.tolerances import TOLERANCES

COST = "cost"
"""The part that is the column's own cost; the others are names of blocks."""


def contributions(
    column: Column, entries: tuple[list[int], list[float]], duals: Duals, weight: float
) -> dict[str, float]:
    """What a reduced cost is the sum of: ``w·c_j`` first, then ``-Σ π_i a_ij`` of each block that the column enters.

    Parameters
    ----------
    entries
        Positions and coefficients of the column in the master's rows.
    """
    parts = {COST: weight * float(column.cost)}
    values = duals.values
    keys = duals.keys
    for row, coefficient in zip(*entries, strict=True):
        if row < len(values):  # younger rows have no dual value yet
            block = keys[row][0]
            parts[block] = parts.get(block, 0.0) - coefficient * float(values[row])
    return parts


def itemised(stated: float, parts: Mapping[str, float]) -> str:
    """The parts of a reduced cost in words, and which of them the difference to a stated one speaks of."""
    listed = ", ".join(f"{_named(name)} {value:.6g}" for name, value in parts.items())
    total = sum(parts.values())
    missing = stated - total
    return f"of the {total:.6g}, {listed}; the stated {stated:.6g} differs by {missing:.6g}{_culprit(missing, parts)}"


def _culprit(missing: float, parts: Mapping[str, float]) -> str:
    """The parts that were left out, or counted with the opposite sign, if one of them alone accounts for it."""
    slack = TOLERANCES.diagnostic * sum(map(abs, parts.values()))
    if not math.isfinite(missing):
        return ""
    for factor, said in ((1.0, "left out"), (2.0, "counted with the opposite sign")):
        for name, value in parts.items():
            if value and abs(missing + factor * value) <= slack < abs(value):
                return f": as if {_named(name)} were {said}"
    return ""


def _named(name: str) -> str:
    return "the cost" if name == COST else f"block {name!r}"
