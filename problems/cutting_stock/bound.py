"""Exact verification of the dual bound, without a solver or tolerances."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from colgen import Duals, InputError, PricingContext
from colgen.core.result import Certificate
from colgen.core.terms import Count
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.layout import Arc, PatternLayout, as_arc
from colgen.problems.cutting_stock.pricing import ARC, PatternOracle
from colgen.problems.cutting_stock.wide_pricing import WideRollOracle
from colgen.solvers.packing.bounded import bounded_packings
from colgen.solvers.packing.counted_network import ChargedCounts, best_counted_packings
from colgen.solvers.packing.knapsack import best_from
from colgen.solvers.scaling import integer_scale


def exact_bound(instance: CuttingStockInstance, duals: Mapping[int, float]) -> Fraction:
    """Return the exact bound on the number of rolls that dual values prove.

    The duals are rounded to multiples p_i / S of a power of two.  If V = max Σ_i p_i a_i over the patterns, then p / V
    prices no pattern above its roll.  By weak duality at least Σ_i p_i d_i / V rolls are needed (Farley's bound).
    V comes from the dynamic program over integers below 2**53, whose floating point sums are exact.

    Parameters
    ----------
    duals
        Dual values by item; negative and missing values count as zero.
    """
    layout = PatternLayout(instance)
    values = np.array([max(float(duals.get(i, 0.0)), 0.0) for i in range(instance.num_items)])
    if not np.isfinite(values).all() or not values.any():
        return Fraction(0)
    # A pattern has at most C / min w_i pieces, so its sum is exact if each p_i is below 2**52 divided by that number.
    pieces = max(instance.roll // min(instance.widths), 1)
    scale = integer_scale(float(values.max()), 52 - pieces.bit_length())
    integers = np.floor(values * scale)
    profits = integers[layout.item_of_rank]
    most = most_earned(layout, profits)
    total = sum(int(p) * d for p, d in zip(integers.tolist(), instance.demands, strict=True))
    return Fraction(total, int(most)) if most > 0 else Fraction(0)


def most_earned(layout: PatternLayout, profits: NDArray[np.float64]) -> float:
    """Return the most that a pattern earns at a profit of each rank, or an upper bound on it without a network."""
    if layout.tabulated:
        net = layout.network
        return float(best_from(net, net.spread(profits))[0, 0])
    least = 0.0
    while True:
        found = bounded_packings(profits, layout.widths, layout.demands, layout.roll, least)
        if found.exact or not len(found.profits):
            return max(found.bound, least)
        least = float(found.profits.max())


def round_exactly(oracle: PatternOracle, bound: float, duals: Duals, context: PricingContext) -> float:
    """Return the exact number of rolls that dual values prove at a node, or ``bound`` if that is larger.

    As :func:`exact_bound`, under the arcs and branching rows of the node.  A row contributes its lower side if its dual
    value is positive, else its upper side.  Patterns pay for rank-1 cuts.
    """
    layout = oracle.layout
    demand = np.maximum(np.asarray(duals["demand"])[layout.item_of_rank], 0.0)
    sides: dict[Hashable, tuple[float, float]] = {}
    for decision in context.decisions:
        row = decision.row()
        if row is not None:
            low, high = sides.get(row.key[1], (-math.inf, math.inf))
            sides[row.key[1]] = max(low, row.lower), min(high, row.upper)
    paid = {arc: dual for arc, dual in duals.items(ARC) if dual}
    largest = max(float(demand.max(initial=0.0)), max(map(abs, paid.values()), default=0.0))
    if not 0.0 < largest < math.inf:
        return bound
    # As in exact_bound, with one more bit: an arc earns the dual values of its item and of its row.
    pieces = max(layout.roll // int(layout.widths.min()), 1)
    scale = integer_scale(largest, 51 - pieces.bit_length())
    integers = np.floor(demand * scale)
    total = sum(int(p) * int(d) for p, d in zip(integers.tolist(), layout.demands.tolist(), strict=True))
    prices = dict[Arc, int]()
    for arc, dual in paid.items():
        price = math.floor(dual * scale)
        side = sides.get(arc, (-math.inf, math.inf))[price < 0]
        if math.isinf(side):
            return bound
        total += price * int(side)
        prices[as_arc(arc)] = price
    if not layout.tabulated:
        asked = max((total - 1) // max(round(bound), 1), 1)
        priced = cast(WideRollOracle, oracle).packings(integers, dict[Arc, float](prices), float(asked), context)
        most = max(int(priced.bound), asked)
        return max(bound, float(math.ceil(Fraction(total, most))))
    net = oracle.network(context)
    profits = net.spread(integers)
    for (rank, position), price in prices.items():
        k = net.arc(rank, position)
        if k >= 0:
            profits[k] += price
    look = context.budget.require
    values = best_from(net, profits, look=look)
    most = int(values[0, 0])
    if cuts := duals.terms(Count):
        terms = cuts.arrays(layout.rank_of_name)
        charges = np.floor(np.maximum(-terms.values, 0.0) * scale)
        owners = np.repeat(np.arange(len(cuts)), np.diff(terms.starts))
        sums = np.zeros(len(cuts), dtype=np.int64)
        np.add.at(sums, owners, terms.weights * layout.demands[terms.members])
        total -= sum(int(f) * side for f, side in zip(charges.tolist(), (sums // terms.divisors).tolist(), strict=True))
        # The threshold proves one roll more than the bound; a higher one would leave many packings near it.
        asked = (total - 1) // max(round(bound), 1)
        counts = ChargedCounts(*terms[:4], charges)
        found = best_counted_packings(net, values, profits, counts, float(max(asked, 1)), look=look)
        most = int(found.bound) if found.overflowed or len(found.profits) else max(asked, 1)
    return max(bound, float(math.ceil(Fraction(total, most)))) if most > 0 else bound


def verify(instance: CuttingStockInstance, certificate: Certificate | None) -> int:
    """Return the exact number of rolls that the certificate of a root proves.

    Without a certificate (the run ended before its first round) this warns, and returns the material bound.
    """
    if instance.stock is not None:
        raise InputError("the instance has a stock, expected rolls of one width at cost 1 to verify a bound")
    if certificate is None:
        warnings.warn(
            "the run ended before its first round and has no certificate; only the material bound is verified",
            stacklevel=2,
        )
        return instance.material_bound
    duals = {index: value for (block, index), value in certificate.duals.items() if block == "demand"}
    return max(math.ceil(exact_bound(instance, duals)), instance.material_bound)
