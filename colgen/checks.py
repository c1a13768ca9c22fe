"""The checks that keep the loop honest: whatever oracles and separations return is held against all that is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from colgen.columns import Column, Row
from colgen.duals import Duals
from colgen.errors import (
    DIAGNOSTIC_TOLERANCE,
    DecisionViolatedError,
    InvalidBoundError,
    OracleBeatenError,
    ReducedCostError,
    SeparationError,
)
from colgen.master import MasterSolution, RestrictedMaster
from colgen.pricing import Pricing, PricingContext, PricingResult
from colgen.sense import Sense
from colgen.separation import Separation
from colgen.solution import Solution

Floats = NDArray[np.float64]


def check_results(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Floats],
    duals: Duals,
    context: PricingContext,
) -> list[Column | None]:
    """Hold each result, with its columns' reduced costs, against what is known; returns each problem's best column."""
    sense = master.sense
    bests: list[Column | None] = []
    for k, (oracle, result, reduced_costs) in enumerate(zip(pricing, results, found, strict=True)):
        _check_stated(oracle, result, reduced_costs, context)
        if context.decisions:
            _check_decisions(oracle, result.columns, context)
        best = int(np.argmax(sense.gains(reduced_costs))) if len(reduced_costs) else None
        bests.append(None if best is None else result.columns[best])
        if result.bound is None:
            continue
        if math.isnan(result.bound):
            raise InvalidBoundError(f"{oracle.name} states a bound that is not a number")
        if best is not None:
            _check_exact(sense, oracle, result.bound, float(reduced_costs[best]), "a column that it returned itself")
        known = master.best_known(duals, None if len(pricing) == 1 else k)
        _check_exact(sense, oracle, result.bound, known, "a column that is in the master already")
    return bests


def _check_stated(oracle: Pricing, result: PricingResult, reduced_costs: Floats, context: PricingContext) -> None:
    if result.reduced_costs is None or not len(result.reduced_costs):
        return
    stated = np.asarray(result.reduced_costs, dtype=float)
    computed = reduced_costs[: len(stated)]
    for k in np.flatnonzero(
        ~(np.abs(stated - computed) <= DIAGNOSTIC_TOLERANCE * np.maximum(1.0, np.abs(stated)))
    ).tolist():
        column = result.columns[k]
        if abs(stated[k] - computed[k]) <= DIAGNOSTIC_TOLERANCE * abs(column.cost):
            continue
        raise ReducedCostError(
            f"{oracle.name} states the reduced cost {stated[k]:g} for the column of {column.structure!r}, but its cost "
            f"and coefficients give {computed[k]:g}: compare how it encodes a structure with what it optimises"
            + (" (in phase 1 costs count zero, see context.cost_weight)" if context.cost_weight == 0 else "")
        )


def _check_decisions(oracle: Pricing, columns: Sequence[Column], context: PricingContext) -> None:
    for column in columns:
        for decision in context.decisions:
            if not decision.allows(column):
                raise DecisionViolatedError(
                    f"{oracle.name} returned the column of {column.structure!r}, which the branching decision "
                    f"{decision} forbids: the oracle must honour context.decisions"
                )


def _check_exact(sense: Sense, oracle: Pricing, bound: float, known: float, whose: str) -> None:
    if math.isfinite(known) and sense.is_better(known, bound, DIAGNOSTIC_TOLERANCE * max(1.0, abs(known))):
        raise OracleBeatenError(
            f"{oracle.name} claims that no reduced cost is better than {bound:g}, but {whose} has {known:g}: it is not "
            "exact, or it states a bound where it should state None"
        )


def check_weak_duality(sense: Sense, bound: float, solved: MasterSolution, pricing: Sequence[Pricing]) -> None:
    """Refuse a dual bound that the restricted master's objective beats."""
    if sense.is_better(solved.objective, bound, DIAGNOSTIC_TOLERANCE * max(1.0, abs(solved.objective))):
        raise InvalidBoundError(
            f"the dual bound {bound:g} is beaten by the restricted master's objective {solved.objective:g}: a bound "
            f"stated by {names(pricing)} is not valid, or a multiplicity or cost bound is too tight"
        )


def probe_infeasibility(pricing: Sequence[Pricing], solved: MasterSolution, context: PricingContext) -> None:
    """Before infeasibility is believed: check that no oracle overlooks, in phase 1, what it finds elsewhere.

    With duals multiplied by a large number an oracle that adds costs regardless finds what it should have found; one
    that honours the cost weight returns what it returned before.  With duals of the opposite sign, likewise one that
    reads them the wrong way round; that is asked at the root alone, since such an oracle gets no further.
    """
    if not isinstance(solved.duals, Duals):
        return
    large = solved.duals.replace(1e6 * solved.duals.values)
    for oracle in pricing:
        claimed = oracle.price(solved.duals, context).bound
        if claimed is None:
            continue
        _check_overlooked(
            oracle,
            oracle.price(large, context).columns,
            claimed,
            solved.duals,
            context,
            "in phase 1 a column's own cost counts zero, so multiply costs by context.cost_weight",
        )
        if context.decisions:
            continue
        try:
            columns = oracle.price(solved.duals.replace(-solved.duals.values), context).columns
        except Exception:  # an oracle need not cope with signs that duals of its rows cannot have
            continue
        _check_overlooked(
            oracle,
            columns,
            claimed,
            solved.duals,
            context,
            "it returns that one at duals of the opposite sign; the reduced cost is c_j - πᵀa_j when minimising and "
            "when maximising",
        )


def _check_overlooked(
    oracle: Pricing, columns: Sequence[Column], claimed: float, duals: Duals, context: PricingContext, why: str
) -> None:
    """Refuse a claim that one of these columns beats."""
    columns = list(columns)
    for column, found in zip(columns, context.reduced_costs(columns, duals), strict=True):
        if context.sense.is_better(found, claimed, DIAGNOSTIC_TOLERANCE * max(1.0, abs(found))):
            raise OracleBeatenError(
                f"{oracle.name} would make the problem infeasible, but it overlooked the column of "
                f"{column.structure!r}: {why}"
            )


def check_row(separator: Separation, row: Row, solution: Solution, incumbent: Solution | None) -> None:
    """Refuse a row that the solution satisfies, or that cuts off an answer that we hold in our hands."""
    activity = row_activity(row, solution)
    if row.lower - 1e-9 <= activity <= row.upper + 1e-9:
        raise SeparationError(
            f"{separator.name} returned the row {row.key!r}, which the solution satisfies (activity {activity:g} in "
            f"[{row.lower:g}, {row.upper:g}]): return violated rows only"
        )
    if (
        incumbent is not None
        and not row.lower - DIAGNOSTIC_TOLERANCE <= row_activity(row, incumbent) <= row.upper + DIAGNOSTIC_TOLERANCE
    ):
        raise SeparationError(
            f"{separator.name} returned the row {row.key!r}, which cuts off a known answer of objective "
            f"{incumbent.objective:g}: rows must be valid for every answer"
        )


def row_activity(row: Row, solution: Solution) -> float:
    """Activity of a row at a solution."""
    coefficients, variables = row.coefficients, solution.variables
    if len(coefficients) <= len(variables):  # a cut has few coefficients, a relaxation many variables, or the reverse
        total = sum(a * variables.get(key, 0.0) for key, a in coefficients.items())
    else:
        total = sum(coefficients.get(key, 0.0) * value for key, value in variables.items())
    for column, value in solution.columns:
        if row.key in column.coefficients:
            total += column.coefficients[row.key] * value
        elif column.key is not None and column.key in row.coefficients:
            total += row.coefficients[column.key] * value
        elif row.coefficient is not None:
            total += row.coefficient(column) * value
    return total


def names(pricing: Sequence[Pricing]) -> str:
    """The oracles, for a message."""
    return ", ".join(oracle.name for oracle in pricing) or "nobody (there is no pricing problem)"
