"""An exact check of the dual bound: no solver, no tolerance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Mapping
from fractions import Fraction

import numpy as np

from colgen import Duals, InputError, PricingContext
from colgen.core.result import Certificate
from colgen.core.terms import Count
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.layout import PatternLayout, as_arc
from colgen.problems.cutting_stock.pricing import ARC, PatternOracle
from colgen.solvers.packing.counted_network import ChargedCounts, best_counted_packings
from colgen.solvers.packing.knapsack import best_from
from colgen.solvers.scaling import integer_scale


def exact_bound(instance: CuttingStockInstance, duals: Mapping[int, float]) -> Fraction:
    """The bound on the number of rolls that dual values prove, in exact arithmetic.

    The duals are rounded to multiples p_i / S of a power of two.  If no pattern earns more than V = max Σ_i p_i a_i
    then p / V prices no pattern above its roll, and by weak duality Σ_i p_i d_i / V rolls are needed (Farley's bound).
    V comes from the dynamic program over whole numbers below 2**53, which floating point adds without error.

    Parameters
    ----------
    duals
        A value for each item; negative ones and missing ones count as zero.
    """
    layout = PatternLayout(instance)
    values = np.array([max(float(duals.get(i, 0.0)), 0.0) for i in range(instance.num_items)])
    if not np.isfinite(values).all() or not values.any():
        return Fraction(0)
    # A pattern has at most C / min w_i pieces: with every p_i below 2**52 less a factor of that all sums stay exact.
    pieces = max(instance.roll // min(instance.widths), 1)
    scale = integer_scale(float(values.max()), 52 - pieces.bit_length())
    whole = np.floor(values * scale)
    net = layout.network
    most = best_from(net, net.spread(whole[layout.item_of_rank]))[0, 0]
    total = sum(int(p) * d for p, d in zip(whole.tolist(), instance.demands, strict=True))
    return Fraction(total, int(most)) if most > 0 else Fraction(0)


def round_exactly(oracle: PatternOracle, bound: float, duals: Duals, context: PricingContext) -> float:
    """The rolls that dual values prove to be needed at a node of the tree, exactly; ``bound`` where that is no more.

    As :func:`exact_bound`, with the arcs that the node's decisions leave, and with the rows of those that have one: of
    a row whose dual value is positive the lower side counts, else the upper one.  Rank-1 cuts pay as their terms say.
    """
    layout, net = oracle.layout, oracle.network(context)
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
    # As in exact_bound, with a bit more: an arc earns what its item does and what its row does.
    pieces = max(layout.roll // int(layout.widths.min()), 1)
    scale = integer_scale(largest, 51 - pieces.bit_length())
    whole = np.floor(demand * scale)
    profits = net.spread(whole)
    total = sum(int(p) * int(d) for p, d in zip(whole.tolist(), layout.demands.tolist(), strict=True))
    for arc, dual in paid.items():
        price = math.floor(dual * scale)
        side = sides.get(arc, (-math.inf, math.inf))[price < 0]
        if math.isinf(side):
            return bound
        total += price * int(side)
        k = net.arc(*as_arc(arc))
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
        # What proves one roll more than the bound says is asked for, and no more: near it there are many packings.
        asked = (total - 1) // max(round(bound), 1)
        counts = ChargedCounts(*terms[:4], charges)
        found = best_counted_packings(net, values, profits, counts, float(max(asked, 1)), look=look)
        most = int(found.bound) if found.overflowed or len(found.profits) else max(asked, 1)
    return max(bound, float(math.ceil(Fraction(total, most)))) if most > 0 else bound


def verify(instance: CuttingStockInstance, certificate: Certificate | None) -> int:
    """The number of rolls that a certificate of the root proves to be needed, exactly.

    A run that ended before a round was done has no certificate.  Then there is a warning, and what is verified is the
    bound that needs none: the rolls that hold the material.
    """
    if instance.stock is not None:
        raise InputError("expected an instance without a stock to verify: its rolls are of one width, and cost 1 each")
    if certificate is None:
        warnings.warn(
            "the run has no certificate, for it ended before the first round: only that the rolls must hold the "
            "material is verified",
            stacklevel=2,
        )
        return instance.material_bound
    duals = {index: value for (block, index), value in certificate.duals.items() if block == "demand"}
    return max(math.ceil(exact_bound(instance, duals)), instance.material_bound)
