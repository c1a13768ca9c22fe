"""Exact checks: bounds and fractional chromatic numbers in whole numbers and fractions, without a tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from colgen import InputError, TimeLimit, solve
from colgen.core.result import Certificate
from colgen.problems.colouring.instance import ColouringInstance
from colgen.problems.colouring.template import Colouring
from colgen.problems.colouring.zykov import VERTEX, whole_numbers
from colgen.solvers.graphs.stable_set import heaviest

_DENOMINATORS = (10, 100, 1_000, 10_000, 100_000)
"""Dual values are tried as fractions with denominators up to these."""


def exact_bound(instance: ColouringInstance, duals: Mapping[int, float | Fraction]) -> Fraction:
    """The bound on the number of colours that dual values prove, in exact arithmetic.

    With whole numbers w_v, of which no stable set holds more than W, Σ_v w_v / W colours are needed.

    Parameters
    ----------
    duals
        A value for each vertex; negative ones and missing ones count as zero.
    """
    given = [duals.get(v, 0) for v in range(instance.num_vertices)]
    if all(isinstance(value, (int, Fraction)) for value in given):
        common = math.lcm(*(Fraction(value).denominator for value in given))
        whole = np.array([max(int(Fraction(value) * common), 0) for value in given], dtype=np.int64)
    else:
        values = np.array([max(float(value), 0.0) for value in given])
        if not np.isfinite(values).all():
            return Fraction(0)
        whole = whole_numbers(values)[0]
    most = heaviest(instance.adjacency, whole).bound
    return Fraction(int(whole.sum()), most) if most else Fraction(0)


def verify(instance: ColouringInstance, certificate: Certificate | None) -> int:
    """The number of colours that a certificate of the root proves to be needed, exactly; 1 without a certificate."""
    if certificate is None:
        return 1
    duals = {index: value for (block, index), value in certificate.duals.items() if block == VERTEX}
    return max(math.ceil(exact_bound(instance, duals)), 1)


def fractional_chromatic_number(instance: ColouringInstance, seconds: float = math.inf) -> Fraction:
    """The value of the relaxation as a fraction, proved from both sides.

    The dual values that column generation ends with are rounded to fractions of small denominators, which prove a
    bound; the values of the stable sets are, which are made to cover every vertex.  Where both come to the same number,
    that is it.

    Raises
    ------
    InputError
        If they do not, or the time is over: the denominators are too large for that.
    """
    result = solve(Colouring(instance), relaxation=True, stop=TimeLimit(seconds) if seconds < math.inf else ())
    if result.certificate is None or result.solution is None:
        raise InputError("the relaxation has not been solved: expected more time")
    duals = {index: value for (block, index), value in result.certificate.duals.items() if block == VERTEX}
    sets = [(column.structure, value) for column, value in result.solution.columns]
    for most in _DENOMINATORS:
        # Vertices that were left out of the program have no dual value: their colours are there anyway.
        lower = exact_bound(instance, {v: Fraction(x).limit_denominator(most) for v, x in duals.items()})
        upper = _covering([(s, Fraction(x).limit_denominator(most)) for s, x in sets], list(duals))
        if lower == upper:
            return lower
    raise InputError(
        f"the fractional chromatic number is near {float(result.objective):.9g}, but expected a fraction of a "
        "smaller denominator to prove it by"
    )


def _covering(sets: Sequence[tuple[Sequence[int], Fraction]], vertices: Sequence[int]) -> Fraction:
    """What the values sum to, once they are multiplied so that each vertex is covered."""
    covered = {v: Fraction(0) for v in vertices}
    for members, value in sets:
        for v in members:
            covered[v] += value
    least = min(covered.values())
    return sum((value for _, value in sets), Fraction(0)) / least if least > 0 else Fraction(-1)
