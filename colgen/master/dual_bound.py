"""The dual bound of a linear master: Lagrangian, and Farley's where a pricing problem has no multiplicity.

Sources: L. S. Lasdon, *Optimization Theory for Large Systems* (1970); A. A. Farley, *A note on bounding a class of
linear programming problems, including cutting stock problems*, Operations Research 38 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from colgen.core.duals import Duals
from colgen.core.sense import Sense
from colgen.core.tolerances import COMMON, ROUNDING, TOLERANCES, size
from colgen.master.column_table import TEMPLATE, ColumnTable
from colgen.master.tableau import Tableau
from colgen.pricing.oracles import Pricing, PricingResult
from colgen.solvers.columns.compressed import box_terms, side_terms

Floats = NDArray[np.float64]

_OF_TERMS = 2.0**-52 / ROUNDING
"""Of the rounding of a sum, what its terms have by themselves."""


def dual_bound(tableau: Tableau, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
    """The bound on the full master that the oracles' results at ``duals`` prove.

    For duals π and any factor 0 ≤ θ ≤ 1 the scaled duals θπ prove, when minimising,

        θ πᵀr + Σ_j min_{l ≤ x_j ≤ u} (c_j - θ πᵀa_j) x_j + Σ_k U_k min(0, θ β_k + (1 - θ) γ_k),

    where j runs over the columns in the master with finite bounds, U_k is the multiplicity, β_k the oracle's bound
    on the reduced cost and γ_k the bound on the cost.  θ = 1 is the Lagrangian bound; if U_k is infinite then its
    term must vanish, and the largest θ for which it does, γ_k / (γ_k - β_k), is Farley's.  θ is the same for all
    pricing problems, so that one with β_k ≥ 0 can have a negative term where γ_k < 0.  A pricing problem that bounds
    the total of its reduced costs counts like one that is used once, at that reduced cost; its columns may be many, so
    that their costs are bounded by zero if γ_k ≥ 0, and by U_k γ_k otherwise.  Maximising mirrors all of it.
    """
    table, rows, _, objective = tableau
    s, ideal = objective.sense.sign, objective.sense.ideal
    scale, real = objective.scale, objective.phase == 2
    # A reduced cost this near to zero counts as zero where an infinite bound would multiply it.  Of a variable that is
    # known it is relative to its cost as well; columns that are not may cost as little as they like.
    clean, nothing = max(TOLERANCES.reduced_cost * scale, objective.rounding), objective.negligible
    terms = _terms(objective.sense, pricing, results, 1.0 if real else 0.0)
    theta = _factor(terms, nothing)
    if theta is None:
        return ideal
    sides, sizes = side_terms(duals.values, rows.lower, rows.upper, s)
    total: float = theta * sides
    if not math.isfinite(total):
        return ideal  # the dual of a side that the row does not have
    boxes = box_terms(
        objective.costs,
        objective.products(duals),
        table.lower_now,
        _upper(table),
        # Artificial variables cost their weights, and rounding leaves of those what it leaves of any number.
        table.weights,
        table.origins,
        TEMPLATE,  # columns that came from an oracle and have no upper bound are covered by the oracle's own bound
        s,
        theta,
        (clean, TOLERANCES.reduced_cost, objective.rounding),
    )
    drowning: float = ROUNDING * theta * sizes
    used = _used(terms, theta, nothing)
    total += boxes
    total += used
    if math.isnan(total) or total == -math.inf:
        return ideal  # nothing is known of a cost that scaling lets count: no rounding to take off
    drowning -= ROUNDING * used
    # Dual values so large that they cancel out; what answers have in common may be most of the total: it hides nothing.
    hidden = TOLERANCES.optimality * size(scale, COMMON * total)
    if drowning > min(TOLERANCES.pruning * size(scale, total), hidden):
        # Summed up exactly, they are as inexact as the reduced costs of an oracle, whose terms are no larger.
        if math.isfinite(total):
            total = float(Fraction(theta) * _sides(tableau, duals) + Fraction(boxes) + Fraction(used))
        drowning *= _OF_TERMS
        # Of an optimum made of nothing the size is not known: rounding is all that is left of it.
        total = 0.0 if not scale and abs(total) <= drowning else total - drowning
    elif drowning < abs(total) < COMMON * scale:
        # The scale may be that of penalties, beside which this is nothing: once they are paid no more, it is something.
        total -= drowning
    if math.isnan(total) or total == -math.inf:  # what is rounded away may be infinite by itself
        return ideal
    return s * total + objective.constant


def unpriced(tableau: Tableau, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
    """The largest gain that is left at ``duals``: of columns that oracles speak of, or of variables without an end."""
    objective, table = tableau.objective, tableau.table
    betas = [objective.sense.sign * stated(result) for result in results]
    left = max([0.0, *(-beta for beta in betas if math.isfinite(beta))])
    endless = table.origins == TEMPLATE
    endless &= np.isinf(table.lower_now) | np.isinf(_upper(table))
    if endless.any():
        gains = objective.sense.gains(objective.reduced_costs(duals)[endless])
        up, down = np.isinf(_upper(table)[endless]), np.isinf(table.lower_now[endless])
        left = max(left, float(np.where(up, gains, 0.0).max()), float(np.where(down, -gains, 0.0).max()))
    return left


def _sides(tableau: Tableau, duals: Duals) -> Fraction:
    """πᵀr as if minimising, without any rounding."""
    s, total, rows = tableau.objective.sense.sign, Fraction(0), tableau.rows
    for i in np.flatnonzero(duals.values).tolist():
        pull = Fraction(s * float(duals.values[i]))
        total += pull * Fraction(float(rows.lower[i] if pull > 0 else rows.upper[i]))
    return total


def stated(result: PricingResult) -> float:
    """What an oracle states of all its reduced costs together, or else of the best of them; nan if nothing."""
    value = result.bound if result.total is None else result.total
    return math.nan if value is None else value


def factor(
    sense: Sense, pricing: Sequence[Pricing], results: Sequence[PricingResult], clean: float, weight: float = 1.0
) -> float | None:
    """By what dual values are multiplied so that pricing problems without a multiplicity prove something.

    1, or Farley's factor where that is less; None if the results prove nothing.

    Parameters
    ----------
    clean
        A reduced cost this near to zero counts as zero.
    weight
        On columns' own costs: 0 in phase 1.
    """
    return _factor(_terms(sense, pricing, results, weight), clean)


def _terms(
    sense: Sense, pricing: Sequence[Pricing], results: Sequence[PricingResult], weight: float
) -> list[tuple[float, float, float, bool]]:
    """Of each pricing problem its U, β and γ as if minimising, and whether β is of all its columns together."""
    s = sense.sign
    return [
        (oracle.multiplicity, s * stated(result), _least_cost(oracle, sense, weight), result.total is not None)
        for oracle, result in zip(pricing, results, strict=True)
    ]


def _factor(terms: Sequence[tuple[float, float, float, bool]], clean: float) -> float | None:
    theta = 1.0
    for multiplicity, beta, gamma, whole in terms:
        if beta != beta:  # nothing is stated
            return None
        if multiplicity == math.inf and beta < -clean and not whole:
            if gamma < 0:
                return None
            theta = min(theta, gamma / (gamma - beta))
    return theta


def _used(terms: Sequence[tuple[float, float, float, bool]], theta: float, nothing: float) -> float:
    """Return Σ_k U_k min(0, θ β_k + (1 - θ) γ_k) over the pricing problems."""
    used = 0.0
    for multiplicity, beta, gamma, whole in terms:
        if beta == math.inf:  # it has no columns at all
            continue
        if whole:
            gamma = 0.0 if gamma >= 0 else multiplicity * gamma
            multiplicity = 1.0
        elif multiplicity == math.inf and -nothing <= beta < 0:
            beta = 0.0
        mixed = beta if theta == 1.0 else theta * beta + (1.0 - theta) * gamma
        if multiplicity == math.inf:  # zero where theta is this oracle's own factor, the scale may not be known yet
            rounding = ROUNDING * size(0.0, beta, gamma)
            mixed = 0.0 if mixed >= -max(nothing, rounding) else mixed
        if mixed < 0:
            used += multiplicity * mixed
    return used


def _least_cost(oracle: Pricing, sense: Sense, weight: float) -> float:
    """What a column costs at least, as if minimising."""
    if not weight:
        return 0.0  # in phase 1 no column costs anything
    return -math.inf if oracle.cost_bound is None else sense.sign * oracle.cost_bound


def increases(
    sense: Sense, oracle: Pricing, result: PricingResult, marginals: Floats, theta: float, clean: float
) -> Floats:
    """By how much the dual bound worsens, at least, where an answer uses some variable of a pricing problem.

    One of the U_k columns that the bound counts at β_k is then one that uses the variable, at its marginal m ≥ β_k.  So
    the bound on such answers is worse by θ m + (1 - θ) γ_k, less what the column had counted for before: nothing where
    that did not improve.  Where a result states a total, marginals are totals too.

    Parameters
    ----------
    marginals
        In the sense of the objective, as reduced costs are.

    Returns
    -------
    array
        Positive if the bound gets worse, -inf where nothing is known.
    """
    s = sense.sign
    if result.total is not None:
        return np.asarray(theta * s * (marginals - result.total), dtype=float)
    beta, gamma = s * stated(result), _least_cost(oracle, sense, 1.0)
    mixed = s * marginals if theta == 1.0 else theta * s * marginals + (1.0 - theta) * gamma
    counted = beta if theta == 1.0 else theta * beta + (1.0 - theta) * gamma
    if math.isinf(oracle.multiplicity) or not counted < 0.0:
        counted = 0.0
    return np.asarray(mixed - counted, dtype=float)


def _upper(table: ColumnTable) -> Floats:
    """Upper bounds of the columns; exchanges count as zero, as in every answer: no bound may rest on them."""
    upper: Floats = table.upper_now
    if table.exchanging:
        upper = upper.copy()
        upper[table.exchange] = 0.0
    return upper
