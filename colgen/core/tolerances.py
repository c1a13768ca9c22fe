"""Tolerances of the engine, all relative to the scale of the compared values.

None is absolute: multiplying every cost by 1e-9 or 1e9 changes no outcome. The *scale* of the objective
(:attr:`colgen.bounding.run.Run.scale`) or of a row is a power of two, so scaling is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Relative tolerances of the engine.

    Attributes
    ----------
    reduced_cost
        A column improves the master if its reduced cost is better than zero by more than this.
    optimality
        A bound and an objective count as equal within this.
    pruning
        A node is pruned if its bound is better than the incumbent by at most this.
    artificial
        Phase 1 has found a feasible solution if the artificial variables sum to at most this. Each is the violation of
        a scaled row.
    feasibility
        Largest violation of a row in an answer.
    integrality
        Largest distance of an integer variable from an integer; its scale is 1.
    diagnostic
        Two numbers that should be equal are an error if they differ by more than this, far above rounding errors.
    """

    reduced_cost: float = 1e-7
    optimality: float = 1e-6
    pruning: float = 1e-9
    artificial: float = 1e-7
    feasibility: float = 1e-6
    integrality: float = 1e-6
    diagnostic: float = 1e-6


TOLERANCES = Tolerances()

ROUNDING = 2.0**-50
"""Relative rounding error of a sum of a few numbers."""

SUMMED = 1024
"""A linear program's objective, a sum of costs times values, is exact to within this many rounding errors of its
terms."""

COMMON = 2.0**-20
"""Differences between answers are relative to at least this share of an objective, even if the answers share most of
it. A tolerance of 1e-9 of it is a few units in the objective's last place."""


def fractionality(value: float) -> float:
    """Return the distance of a value to the nearest integer; zero within the tolerance."""
    distance = abs(value - round(value))
    return distance if distance > TOLERANCES.integrality else 0.0


def size(scale: float, *values: float) -> float:
    """Return the scale of a difference of ``values``: the largest finite magnitude, at least ``scale``."""
    largest = max(scale, 0.0)
    for value in values:  # a loop, because every comparison calls this
        value = abs(value)
        if largest < value < math.inf:
            largest = value
    return largest
