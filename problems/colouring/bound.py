"""Exact bounds and fractional chromatic numbers, in integers and fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from colgen import InputError, TimeLimit, solve
from colgen.core.result import Certificate
from colgen.problems.colouring.instance import ColouringInstance
from colgen.problems.colouring.template import Colouring
from colgen.problems.colouring.zykov import VERTEX, round_up
from colgen.solvers.graphs.stable_set import heaviest

_DENOMINATORS = (10, 100, 1_000, 10_000, 100_000)
"""Largest denominators for rounding dual values, tried in order."""


def exact_bound(instance: ColouringInstance, duals: Mapping[int, float | Fraction]) -> Fraction:
    """Return the lower bound on the number of colours that dual values prove, in exact arithmetic.

    If vertices have integer weights w_v and no stable set weighs more than W, at least Σ_v w_v / W colours are needed.

    Parameters
    ----------
    duals
        A value for each vertex.  Negative and missing values count as 0.
    """
    given = [duals.get(v, 0) for v in range(instance.num_vertices)]
    if all(isinstance(value, (int, Fraction)) for value in given):
        common = math.lcm(*(Fraction(value).denominator for value in given))
        whole = np.array([max(int(Fraction(value) * common), 0) for value in given], dtype=np.int64)
    else:
        values = np.array([max(float(value), 0.0) for value in given])
        if not np.isfinite(values).all():
            return Fraction(0)
        whole = round_up(values)[0]
    most = heaviest(instance.adjacency, whole).bound
    return Fraction(int(whole.sum()), most) if most else Fraction(0)


def verify(instance: ColouringInstance, certificate: Certificate | None) -> int:
    """Return the number of colours that a root certificate proves necessary in exact arithmetic, at least 1."""
    if certificate is None:
        return 1
    duals = {index: value for (block, index), value in certificate.duals.items() if block == VERTEX}
    return max(math.ceil(exact_bound(instance, duals)), 1)


def fractional_chromatic_number(instance: ColouringInstance, seconds: float = math.inf) -> Fraction:
    """Return the optimum of the relaxation as a fraction, proved from both sides.

    Final dual values and column values are rounded to fractions with small denominators.  The duals give a lower
    bound.  The columns, scaled so that every vertex is covered, give an upper bound.  If both are equal, the value is
    proved.

    Raises
    ------
    InputError
        If the time is too short, or the denominators are too large for a proof.
    """
    result = solve(Colouring(instance), relaxation=True, stop=TimeLimit(seconds) if seconds < math.inf else ())
    if result.certificate is None or result.solution is None:
        raise InputError("the relaxation was not solved in time: increase seconds")
    duals = {index: value for (block, index), value in result.certificate.duals.items() if block == VERTEX}
    sets = [(column.structure, value) for column, value in result.solution.columns]
    for most in _DENOMINATORS:
        # Vertices removed by the reduction have no dual value; they need no additional colours.
        lower = exact_bound(instance, {v: Fraction(x).limit_denominator(most) for v, x in duals.items()})
        upper = _covering([(s, Fraction(x).limit_denominator(most)) for s, x in sets], list(duals))
        if lower == upper:
            return lower
    raise InputError(
        f"the fractional chromatic number is near {float(result.objective):.9g}: expected a fraction with a "
        f"denominator up to {_DENOMINATORS[-1]:,} to prove it"
    )


def _covering(sets: Sequence[tuple[Sequence[int], Fraction]], vertices: Sequence[int]) -> Fraction:
    """Return the sum of the values, scaled so that each vertex is covered; -1 if a vertex is in no set."""
    covered = {v: Fraction(0) for v in vertices}
    for members, value in sets:
        for v in members:
            covered[v] += value
    least = min(covered.values())
    return sum((value for _, value in sets), Fraction(0)) / least if least > 0 else Fraction(-1)
