"""The dual bound of a linear master: Lagrangian, or Farley's if a pricing problem has no multiplicity.

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
"""Share of a sum's rounding error that its terms have by themselves."""


def dual_bound(tableau: Tableau, duals: Duals, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
    """Return the bound on the full master that the oracles' results prove.

    For duals π and any factor 0 ≤ θ ≤ 1 the scaled duals θπ prove, when minimising,

        θ πᵀr + Σ_j min_{l ≤ x_j ≤ u} (c_j - θ πᵀa_j) x_j + Σ_k U_k min(0, θ β_k + (1 - θ) γ_k),

    where j runs over the columns in the master with finite bounds.  U_k is the multiplicity, β_k the oracle's bound on
    the reduced cost and γ_k the bound on the cost.  With θ = 1 this is the Lagrangian bound.  If U_k is infinite, its
    term must vanish.  The largest θ with this property, γ_k / (γ_k - β_k), is Farley's.  All pricing problems share θ,
    so that one with β_k ≥ 0 can have a negative term if γ_k < 0. A pricing problem with a total counts as used once at
    that reduced cost.  It may use many columns, so γ_k is replaced by zero if γ_k ≥ 0, and by U_k γ_k otherwise.
    Maximisation is symmetric.
    """
    table, rows, _, objective = tableau
    s, ideal = objective.sense.sign, objective.sense.ideal
    scale, real = objective.scale, objective.phase == 2
    # Reduced costs this close to zero count as zero if an infinite bound multiplies them.  For known variables this is
    # also relative to their cost; unknown columns may have arbitrarily small costs.
    clean, negligible = max(TOLERANCES.reduced_cost * scale, objective.rounding), objective.negligible
    terms = _terms(objective.sense, pricing, results, 1.0 if real else 0.0)
    theta = _factor(terms, negligible)
    if theta is None:
        return ideal
    sides, sizes = side_terms(duals.values, rows.lower, rows.upper, s)
    total: float = theta * sides
    if not math.isfinite(total):
        return ideal  # a dual value refers to an infinite side
    boxes = box_terms(
        objective.costs,
        objective.products(duals),
        table.lower_now,
        _upper(table),
        # Artificial variables cost their weights, which have ordinary rounding errors.
        table.weights,
        table.origins,
        TEMPLATE,  # columns of oracles without an upper bound are covered by the oracle's own bound
        s,
        theta,
        (clean, TOLERANCES.reduced_cost, objective.rounding),
    )
    rounding: float = ROUNDING * theta * sizes
    used = _oracle_terms(terms, theta, negligible)
    total += boxes
    total += used
    if math.isnan(total) or total == -math.inf:
        return ideal  # there is no bound, and no rounding error to subtract
    rounding -= ROUNDING * used
    # Very large dual values may cancel out.  A common part of all objectives may dominate the total and does not count.
    hidden = TOLERANCES.optimality * size(scale, COMMON * total)
    if rounding > min(TOLERANCES.pruning * size(scale, total), hidden):
        # Summed exactly, the terms still have the rounding error of an oracle's reduced costs, which are no larger.
        if math.isfinite(total):
            total = float(Fraction(theta) * _sides(tableau, duals) + Fraction(boxes) + Fraction(used))
        rounding *= _OF_TERMS
        # If the optimum is zero its scale is unknown: use the rounding error instead.
        total = 0.0 if not scale and abs(total) <= rounding else total - rounding
    elif rounding < abs(total) < COMMON * scale:
        # The scale may be that of penalties, much larger than the total, which matters once no penalty is paid.
        total -= rounding
    if math.isnan(total) or total == -math.inf:  # the rounding error may be infinite
        return ideal
    return s * total + objective.constant


def remaining_gain(tableau: Tableau, duals: Duals, results: Sequence[PricingResult]) -> float:
    """Return the largest gain left for oracles' columns or unbounded variables."""
    objective, table = tableau.objective, tableau.table
    betas = [objective.sense.sign * stated_bound(result) for result in results]
    left = max([0.0, *(-beta for beta in betas if math.isfinite(beta))])
    endless = table.origins == TEMPLATE
    endless &= np.isinf(table.lower_now) | np.isinf(_upper(table))
    if endless.any():
        gains = objective.sense.gains(objective.reduced_costs(duals)[endless])
        up, down = np.isinf(_upper(table)[endless]), np.isinf(table.lower_now[endless])
        left = max(left, float(np.where(up, gains, 0.0).max()), float(np.where(down, -gains, 0.0).max()))
    return left


def _sides(tableau: Tableau, duals: Duals) -> Fraction:
    """Return πᵀr as if minimising, without rounding errors."""
    s, total, rows = tableau.objective.sense.sign, Fraction(0), tableau.rows
    for i in np.flatnonzero(duals.values).tolist():
        pull = Fraction(s * float(duals.values[i]))
        total += pull * Fraction(float(rows.lower[i] if pull > 0 else rows.upper[i]))
    return total


def stated_bound(result: PricingResult) -> float:
    """Return the total of a result, or else its bound; nan if it has neither."""
    value = result.bound if result.total is None else result.total
    return math.nan if value is None else value


def factor(
    sense: Sense, pricing: Sequence[Pricing], results: Sequence[PricingResult], clean: float, weight: float = 1.0
) -> float | None:
    """Return the factor of the dual values that gives a bound without multiplicities.

    It is 1, or Farley's factor if that is smaller; None if the results prove nothing.  Reduced costs up to ``clean``
    count as zero.  ``weight`` is the factor on columns' own costs, 0 in phase 1.
    """
    return _factor(_terms(sense, pricing, results, weight), clean)


def _terms(
    sense: Sense, pricing: Sequence[Pricing], results: Sequence[PricingResult], weight: float
) -> list[tuple[float, float, float, bool]]:
    """Return U, β, γ of each pricing problem, and whether β is a total."""
    s = sense.sign
    return [
        (oracle.multiplicity, s * stated_bound(result), _least_cost(oracle, sense, weight), result.total is not None)
        for oracle, result in zip(pricing, results, strict=True)
    ]


def _factor(terms: Sequence[tuple[float, float, float, bool]], clean: float) -> float | None:
    theta = 1.0
    for multiplicity, beta, gamma, is_total in terms:
        if beta != beta:  # nothing is stated
            return None
        if multiplicity == math.inf and beta < -clean and not is_total:
            if gamma < 0:
                return None
            theta = min(theta, gamma / (gamma - beta))
    return theta


def _oracle_terms(terms: Sequence[tuple[float, float, float, bool]], theta: float, negligible: float) -> float:
    """Return Σ_k U_k min(0, θ β_k + (1 - θ) γ_k) over the pricing problems."""
    used = 0.0
    for multiplicity, beta, gamma, is_total in terms:
        if beta == math.inf:  # there are no columns
            continue
        if is_total:
            gamma = 0.0 if gamma >= 0 else multiplicity * gamma
            multiplicity = 1.0
        elif multiplicity == math.inf and -negligible <= beta < 0:
            beta = 0.0
        mixed = beta if theta == 1.0 else theta * beta + (1.0 - theta) * gamma
        if multiplicity == math.inf:  # zero if θ is this oracle's own factor; the scale may be unknown yet
            rounding = ROUNDING * size(0.0, beta, gamma)
            mixed = 0.0 if mixed >= -max(negligible, rounding) else mixed
        if mixed < 0:
            used += multiplicity * mixed
    return used


def _least_cost(oracle: Pricing, sense: Sense, weight: float) -> float:
    """Return a lower bound on a column's cost, as if minimising."""
    if not weight:
        return 0.0  # in phase 1 columns have no costs
    return -math.inf if oracle.cost_bound is None else sense.sign * oracle.cost_bound


def increases(sense: Sense, oracle: Pricing, result: PricingResult, marginals: Floats, theta: float) -> Floats:
    """Return lower bounds on the loss of the dual bound if a variable is used.

    One of the U_k columns that the bound counts at β_k must then use the variable, with a marginal m ≥ β_k.  So the
    bound worsens by θ m + (1 - θ) γ_k, minus the column's term before, if that improved.  If a result has a total,
    marginals are totals too.  ``marginals`` are in the sense of the objective, like reduced costs.  The bounds are
    positive if the dual bound worsens, -inf if nothing is known.
    """
    s = sense.sign
    if result.total is not None:
        return np.asarray(theta * s * (marginals - result.total), dtype=float)
    beta, gamma = s * stated_bound(result), _least_cost(oracle, sense, 1.0)
    mixed = s * marginals if theta == 1.0 else theta * s * marginals + (1.0 - theta) * gamma
    counted = beta if theta == 1.0 else theta * beta + (1.0 - theta) * gamma
    if math.isinf(oracle.multiplicity) or not counted < 0.0:
        counted = 0.0
    return np.asarray(mixed - counted, dtype=float)


def _upper(table: ColumnTable) -> Floats:
    """Return upper bounds of the columns, zero for exchanges."""
    upper: Floats = table.upper_now
    if table.exchanging:
        upper = upper.copy()
        upper[table.exchange] = 0.0
    return upper
