"""An exact check of the dual bound: no solver, no tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from colgen import Certificate
from problems.cutting_stock.instance import Instance
from problems.cutting_stock.layout import Layout
from solvers.knapsack import best_from


def exact_bound(instance: Instance, duals: Mapping[int, float]) -> Fraction:
    """The bound on the number of rolls that dual values prove, in exact arithmetic.

    The duals are rounded to multiples p_i / S of a power of two.  If no pattern earns more than V = max Σ_i p_i a_i
    then p / V prices no pattern above its roll, and by weak duality Σ_i p_i d_i / V rolls are needed (Farley's bound).
    V comes from the dynamic program over whole numbers below 2**53, which floating point adds without error.

    Parameters
    ----------
    duals
        A value for each item; negative ones and missing ones count as zero.
    """
    layout = Layout(instance)
    values = np.array([max(float(duals.get(i, 0.0)), 0.0) for i in range(instance.num_items)])
    if not np.isfinite(values).all() or not values.any():
        return Fraction(0)
    # A pattern has at most C pieces: with every p_i below 2**52 / C all sums stay exact.
    scale = 2.0 ** math.floor(math.log2(2.0**52 / (instance.roll * float(values.max()))))
    whole = np.floor(values * scale)
    net = layout.network
    most = best_from(net, net.spread(whole[layout.item_of_rank]))[0, 0]
    total = sum(int(p) * d for p, d in zip(whole.tolist(), instance.demands, strict=True))
    return Fraction(total, int(most)) if most > 0 else Fraction(0)


def verify(instance: Instance, certificate: Certificate) -> int:
    """The number of rolls that a certificate of the root proves to be needed, exactly."""
    duals = {index: value for (block, index), value in certificate.duals.items() if block == "demand"}
    return math.ceil(exact_bound(instance, duals))  # type: ignore[arg-type]
