"""How near is near enough: one value, all of it relative to the scale of what is compared.

Nothing here is an absolute number: multiplying every cost by 1e-9 or 1e9 changes no verdict.  What a tolerance is
relative to is the *scale* of the objective (:attr:`colgen.bounding.run.Run.scale`) or of a row: a power of two, so that
dividing by it and multiplying by it loses nothing.
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
        A column improves if its reduced cost gains more than this.
    optimality
        A bound and an objective that differ by no more than this meet.
    pruning
        A node whose bound is better than the incumbent by no more than this holds nothing better.
    artificial
        A phase 1 whose artificial variables sum up to no more than this has found a feasible solution: they count
        violations of scaled rows.
    feasibility
        By so much may the activity of a row miss its sides in an answer.
    integrality
        By so much may a value miss a whole number in an answer; values count whole columns, so that their scale is 1.
    diagnostic
        Two numbers that should be equal and differ by more than this are a mistake: far above rounding.
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
"""The objective of a linear program, a sum of costs times values, is exact to so many rounding errors of its terms."""

COMMON = 2.0**-20
"""The share of an objective that differences between answers are at least relative to, whatever they have in common.

A tolerance of 1e-9 of it is a few units in the objective's last place.
"""


def fractionality(value: float) -> float:
    """Return the distance of a value to the nearest whole number; zero within the tolerance."""
    distance = abs(value - round(value))
    return distance if distance > TOLERANCES.integrality else 0.0


def size(scale: float, *values: float) -> float:
    """What a difference of ``values`` is relative to: the largest of them that is finite, at least ``scale``."""
    largest = max(scale, 0.0)
    for value in values:  # a loop, for this is asked at every comparison
        value = abs(value)
        if largest < value < math.inf:
            largest = value
    return largest
