"""An exact check of the dual bound: no solver, no tolerance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from colgen import Certificate
from problems.cutting_stock.instance import Instance
from problems.cutting_stock.layout import Layout
from solvers.packing.knapsack import best_from


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
    # A pattern has at most C / min w_i pieces: with every p_i below 2**52 less a factor of that all sums stay exact.
    pieces = max(instance.roll // min(instance.widths), 1)
    scale = math.ldexp(1.0, 52 - pieces.bit_length() - math.frexp(float(values.max()))[1])
    whole = np.floor(values * scale)
    net = layout.network
    most = best_from(net, net.spread(whole[layout.item_of_rank]))[0, 0]
    total = sum(int(p) * d for p, d in zip(whole.tolist(), instance.demands, strict=True))
    return Fraction(total, int(most)) if most > 0 else Fraction(0)


def verify(instance: Instance, certificate: Certificate | None) -> int:
    """The number of rolls that a certificate of the root proves to be needed, exactly.

    A run that ended before a round was done has no certificate.  Then there is a warning, and what is verified is the
    bound that needs none: the rolls that hold the material.
    """
    if certificate is None:
        warnings.warn(
            "the run has no certificate, for it ended before the first round: only that the rolls must hold the "
            "material is verified",
            stacklevel=2,
        )
        return instance.material_bound
    duals = {index: value for (block, index), value in certificate.duals.items() if block == "demand"}
    return max(math.ceil(exact_bound(instance, duals)), instance.material_bound)  # type: ignore[arg-type]
