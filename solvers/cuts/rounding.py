r"""Mixed-integer rounding cuts: inequalities over integer variables, divided and rounded.

The inequality

    s + Σ_j a_j z_j ≥ b,    s ≥ 0,    0 ≤ z_j ≤ u_j integer

implies, for every δ > 0,

    s + δ f Σ_j G(a_j/δ) z_j ≥ δ f ⌈b/δ⌉.

Here f is the fractional part of b/δ and ``G(q) = ⌊q⌋ + min((q - ⌊q⌋)/f, 1)``.  Before rounding, a variable above the
middle of its range is replaced by its distance from the upper bound.  G is continuous, and f is kept away from 0 and 1.
So a rounding error of the data changes a coefficient by about the same amount at most.

Source: H. Marchand, L. A. Wolsey, *Aggregation and mixed integer rounding to solve MIPs*, Operations Research 49
(2001).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import as_floats

Floats = NDArray[np.float64]

_FRACTIONAL = 8
"""Number of variables farthest from a bound whose coefficients are tried as divisors."""

_PARTS = np.array([1.0, 2.0, 4.0])
"""Divisors are coefficients divided by these."""

_AWAY = 2.0**-5
"""Minimum distance of the fractional part of a side from 0 and 1."""

_WHOLE = 1e-6
"""Values within this distance of an integer count as integer."""


def round_inequalities(
    coefficients: ArrayLike, sides: ArrayLike, rests: ArrayLike, values: ArrayLike, upper: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    """Return the most violated rounding of each inequality ``s + a·z ≥ b``: violations, coefficients, sides.

    A violation is the increase of s needed.  It is at most 0 if no rounding is violated.  The coefficient of s is 1.

    Parameters
    ----------
    coefficients : (inequalities, variables) array a
    sides : b of each inequality
    rests : s of each inequality at the solution; non-negative up to rounding
    values : z at the solution
    upper : upper bounds of the integer variables, possibly infinite; lower bounds are 0

    Raises
    ------
    ArrayError
        If shapes do not agree, or upper bounds are negative.
    """
    values = as_floats(values, "values", shape=("variables",))
    upper = as_floats(upper, "upper", shape=(len(values),), low=0.0, finite=False)
    sides = as_floats(sides, "sides", shape=("inequalities",))
    a = as_floats(coefficients, "coefficients", shape=(len(sides), len(values)))
    rests = np.maximum(as_floats(rests, "rests", shape=(len(sides),)), 0.0)
    turned = values > upper / 2.0
    ends = np.where(turned, upper, 0.0)
    z = np.maximum(np.where(turned, upper - values, values), 0.0)
    a, b = np.where(turned, -a, a), sides - a @ ends
    divisors = _divisors(a, z)
    if not divisors.size:
        return np.full(len(b), -np.inf), np.zeros_like(a), np.full(len(b), -np.inf)
    usable = divisors > 0.0
    divisors = np.where(usable, divisors, 1.0)
    quotients = b[:, None] / divisors
    fractions = quotients - np.floor(quotients)
    usable &= (fractions >= _AWAY) & (fractions <= 1.0 - _AWAY)
    fractions = np.where(usable, fractions, 0.5)
    parts = a[:, None, :] / divisors[:, :, None]
    whole = np.floor(parts)
    lifted = whole + np.minimum((parts - whole) / fractions[:, :, None], 1.0)
    sizes = divisors * fractions
    gained = np.where(usable, (np.ceil(quotients) - lifted @ z) * sizes, -np.inf)
    best = np.arange(len(b)), gained.argmax(axis=1)
    found = lifted[best] * sizes[best][:, None]
    found = np.where(turned, -found, found)
    return gained[best] - rests, found, np.ceil(quotients[best]) * sizes[best] + found @ ends


def _divisors(a: Floats, z: Floats) -> Floats:
    """Return the divisors to try for each inequality; 0 for none."""
    fractional = np.flatnonzero(np.abs(z - np.rint(z)) > _WHOLE)
    chosen = fractional[np.argsort(-z[fractional], kind="stable")[:_FRACTIONAL]]
    found: Floats = (np.abs(a[:, chosen, None]) / _PARTS).reshape(len(a), len(chosen) * len(_PARTS))
    return found
