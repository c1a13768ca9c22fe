"""Checks of the results of oracles and separations against everything that is known (promise 3)."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen.core.activity import activities
from colgen.core.column_batch import Columns
from colgen.core.columns import Column, Row
from colgen.core.decision import Decision, screen_of
from colgen.core.duals import DualPoint, Duals, OwnDuals
from colgen.core.errors import (
    DecisionViolatedError,
    FormulationError,
    InvalidBoundError,
    OracleBeatenError,
    ReducedCostError,
    RepeatedColumnError,
    SeparationError,
)
from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING, SUMMED, TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.column_pool import NOWHERE
from colgen.master.protocol import MasterSolution, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, call_oracle

Floats = NDArray[np.float64]


def check_results(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Floats],
    duals: OwnDuals,
    context: PricingContext,
) -> None:
    """Check each result, with its columns' reduced costs at ``duals``, against known columns and decisions."""
    sign, near = context.sense.sign, TOLERANCES.diagnostic * context.scale
    known = None if master.rows is None else master.rows.best_known(duals, len(pricing))
    held = [context.sense.hopeless] * len(pricing) if known is None else known
    for oracle, result, reduced_costs, best_held in zip(pricing, results, found, held, strict=True):
        count, bound = len(reduced_costs), result.bound
        if result.reduced_costs is not None and len(result.reduced_costs):
            _check_stated(master, oracle, result, reduced_costs, duals, context)
        if context.decisions:
            _check_decisions(oracle, result.columns, context)
        if bound is None:
            continue
        if bound != bound:
            raise InvalidBoundError(f"{oracle.name} states a bound that is not a number")
        # The details matter only if the difference exceeds the numerical accuracy.
        if count:
            signed = sign * reduced_costs
            best = sign * (min(signed.tolist()) if count <= _FEW else float(signed.min()))
            if sign * (bound - best) > near:
                _check_exact(context, oracle, bound, best, "a column that it returned itself")
        if sign * (bound - best_held) > near:
            _check_exact(context, oracle, bound, best_held, "a column that is in the master already")


_FEW = 8
"""Up to this many numbers are compared faster one by one than as an array."""


def _check_stated(
    master: RestrictedMaster,
    oracle: Pricing,
    result: PricingResult,
    reduced_costs: Floats,
    duals: DualPoint,
    context: PricingContext,
) -> None:
    assert result.reduced_costs is not None
    count, scale = len(result.reduced_costs), context.scale
    if count > len(reduced_costs):
        raise ReducedCostError(f"{oracle.name} states {count} reduced costs for {len(reduced_costs)} columns")
    computed = reduced_costs[:count]
    if count <= _FEW:
        pairs = zip(result.reduced_costs, computed.tolist(), strict=True)
        if all(abs(value - found) <= TOLERANCES.diagnostic * max(scale, abs(value)) for value, found in pairs):
            return
    stated = np.asarray(result.reduced_costs, dtype=float)
    far = ~(np.abs(stated - computed) <= TOLERANCES.diagnostic * np.maximum(scale, np.abs(stated)))
    if not far.any():
        return
    for k in np.flatnonzero(far).tolist():
        column = result.columns[k]
        if abs(stated[k] - computed[k]) <= TOLERANCES.diagnostic * abs(column.cost):
            continue
        rows = master.rows
        parts = "" if rows is None else rows.itemised(float(stated[k]), column, duals, context.cost_weight)
        raise ReducedCostError(
            f"{oracle.name} states the reduced cost {stated[k]:g} for the column of {column.structure!r}, but its cost "
            f"and coefficients give {computed[k]:g}: compare encode() with the objective that the oracle optimises"
            + (" (in phase 1 costs count zero, see context.cost_weight)" if context.cost_weight == 0 else "")
            + (f"; {parts}" if parts else "")
        )


def _check_decisions(oracle: Pricing, columns: Sequence[Column], context: PricingContext) -> None:
    if isinstance(columns, Columns) and columns.meanings.given is None:  # a batch is checked by its arrays
        for decision in context.decisions:
            mask = decision.allows_each(columns)
            if not mask.all():
                _raise_forbidden(oracle, columns[int(np.argmin(mask))], decision)
        return
    screen = screen_of(context.decisions)
    for column in columns:
        objection = screen.objection(column)
        if objection is not None:
            _raise_forbidden(oracle, column, objection)


def _raise_forbidden(oracle: Pricing, column: Column, decision: Decision) -> None:
    raise DecisionViolatedError(
        f"{oracle.name} returned the column of {column.structure!r}, which the branching decision {decision} forbids: "
        "return only columns that context.decisions allow"
    )


def check_distinct(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    reduced_costs: Sequence[Floats],
    context: PricingContext,
) -> None:
    """Check that no improving column is mistaken for a forbidden one in the master.

    Called if a round finds no new column, because such columns would never join.
    """
    screen = screen_of(context.decisions)
    for oracle, result, mine in zip(pricing, results, reduced_costs, strict=True):
        for k in np.flatnonzero(context.sense.gains(mine) > context.tolerance).tolist():
            column = result.columns[k]
            if column.key is not None:
                continue
            where = int(master.find((column,))[0])
            if where == NOWHERE:
                continue
            there = master.at(where).column
            if screen.objection(there) is not None and screen.objection(column) is None:
                raise RepeatedColumnError(
                    f"{oracle.name} returned the column of {column.structure!r}, which has the cost and coefficients "
                    f"of {there.structure!r} in the master, and a branching decision forbids the latter: columns "
                    "without a key are compared by cost and coefficients, so give each a key, Column(..., key=(block, "
                    "index))"
                )


_ROUNDINGS = 100.0
"""Rounding errors by which the reduced cost of a column in the master may seem to improve it: those of the dual values
add up to more than that of the last sum."""


def check_not_repeated(
    oracle: Pricing, column: Column, held: Column, reduced_cost: float, scale: float, rounding: float
) -> None:
    """Check that a column held by the master below its upper bound does not seem to improve it."""
    if abs(reduced_cost) <= TOLERANCES.diagnostic * size(scale, column.cost) + _ROUNDINGS * rounding:
        return
    why = f"two different columns share the key {column.key!r}, or its rows' functions changed"
    if column.key is None:
        why = (
            f"it has the cost and coefficients of {held.structure!r}; give columns that differ otherwise a key, "
            "Column(..., key=(block, index)), unless the rows' functions changed"
        )
    raise RepeatedColumnError(
        f"{oracle.name} returned the column of {column.structure!r} as improving (reduced cost {reduced_cost:g}), but "
        f"the master holds it already and has priced it out: {why}"
    )


def _check_exact(context: PricingContext, oracle: Pricing, bound: float, known: float, whose: str) -> None:
    tolerance = TOLERANCES.diagnostic * size(context.scale, known)
    if math.isfinite(known) and context.sense.is_better(known, bound, tolerance):
        raise OracleBeatenError(
            f"{oracle.name} claims that no reduced cost is better than {bound:g}, but {whose} has {known:g}: it is "
            "not exact, or it states a bound where it should state None"
        )


def check_weak_duality(
    master: RestrictedMaster, bound: float, solved: MasterSolution, pricing: Sequence[Pricing], scale: float
) -> None:
    """Check that the restricted master's objective does not beat the dual bound."""
    tolerance = TOLERANCES.diagnostic * size(scale, solved.objective)
    if not master.sense.is_better(solved.objective, bound, tolerance):
        return
    # Costs and a constant that cancel out have the rounding error of the largest.
    terms = abs(master.precision.offset) + (solved.terms if solved.phase == 2 else 0.0)
    if math.isfinite(terms):
        tolerance = max(tolerance, SUMMED * ROUNDING * terms)
    overused = master.rows is not None and master.rows.overuses(solved, pricing)
    if master.sense.is_better(solved.objective, bound, tolerance) and not overused:
        raise InvalidBoundError(
            f"the restricted master's objective {solved.objective:g} beats the dual bound {bound:g}: a bound of "
            f"{oracle_names(pricing)} is not valid, or a multiplicity or cost bound is too tight"
        )


def probe_infeasibility(
    master: RestrictedMaster, pricing: Sequence[Pricing], solved: MasterSolution, context: PricingContext
) -> None:
    """Check that no oracle misses a column in phase 1, before a node is declared infeasible.

    The oracles are called at other dual values.  Dual values multiplied by a large number reveal an oracle that ignores
    the cost weight.  At the root, dual values of the opposite sign reveal a wrong sign convention, and zeros reveal an
    oracle that returns the worst column.
    """
    if not isinstance(solved.duals, Duals) or master.rows is None:
        return
    large = solved.duals.replace(1e6 * solved.duals.values)
    opposite = master.rows.signed(solved.duals.replace(-solved.duals.values))
    for oracle in pricing:
        claimed = call_oracle(oracle, solved.duals, context).bound
        if claimed is None:
            continue
        _check_overlooked(
            oracle,
            call_oracle(oracle, large, context).columns,
            claimed,
            solved.duals,
            context,
            "in phase 1 a column's own cost counts zero, so multiply costs by context.cost_weight",
        )
        if context.decisions:
            continue
        _check_overlooked(
            oracle,
            call_oracle(oracle, opposite, context).columns,
            claimed,
            solved.duals,
            context,
            "it returns this column at duals of the opposite sign or at zero; the reduced cost is c_j - πᵀa_j when "
            "minimising and maximising alike",
        )


def _check_overlooked(
    oracle: Pricing, columns: Sequence[Column], claimed: float, duals: Duals, context: PricingContext, why: str
) -> None:
    """Raise an error if one of these columns beats the claimed bound."""
    for k, found in enumerate(context.reduced_costs(columns, duals)):
        if context.sense.is_better(found, claimed, TOLERANCES.diagnostic * size(context.scale, found)):
            # A batch that is in no master yet has structures, but not the names of its rows.
            structure = columns.meanings.of(k) if isinstance(columns, Columns) else columns[k].structure
            raise OracleBeatenError(
                f"{oracle.name} would make the problem infeasible, but it misses the column of {structure!r}: {why}"
            )


def check_rows(
    separator: Separation,
    rows: Sequence[Row],
    solution: Solution,
    known: Sequence[Solution],
    present: Container[object] = (),
) -> list[tuple[Row, float]]:
    """Return the rows to add with their violations, all of them larger than rounding errors.

    ``known`` are feasible solutions, which must satisfy the rows.  The solver may violate rows whose keys are in
    ``present`` by its own tolerance.  A row that the solution clearly satisfies, or that cuts off a known solution,
    raises a :class:`SeparationError`.  A coefficient that is not finite raises a :class:`FormulationError`.
    """
    here = activities(rows, solution)
    for row, found in zip(rows, here, strict=True):
        if found.value != found.value:  # comparisons with NaN are false, so the row would be ignored
            raise FormulationError(f"row {row.key!r} has a coefficient that is not a finite number")
        if found.violation < -TOLERANCES.diagnostic:
            raise SeparationError(
                f"{separator.name} returned the row {row.key!r}, which the solution satisfies (activity "
                f"{found.value:g} in [{row.lower:g}, {row.upper:g}]): return violated rows only"
            )
    for feasible in known if rows else ():
        for row, there in zip(rows, activities(rows, feasible), strict=True):
            if there.violation > TOLERANCES.feasibility:
                raise SeparationError(
                    f"{separator.name} returned the row {row.key!r}, which cuts off a feasible solution of objective "
                    f"{feasible.objective:g} (activity {there.value:g} outside [{row.lower:g}, {row.upper:g}]): rows "
                    "must be valid for every feasible solution"
                )
    tolerances = (TOLERANCES.feasibility if row.key in present else TOLERANCES.pruning for row in rows)
    return [
        (row, found.violation)
        for row, found, allowed in zip(rows, here, tolerances, strict=True)
        if found.violation > allowed
    ]


@dataclass(frozen=True)
class Objection:
    """A separated row that an integral solution violates."""

    separator: Separation
    row: Row
    activity: float

    def __str__(self) -> str:
        return (
            f"the row {self.row.key!r} of {self.separator.name} (activity {self.activity:g} outside "
            f"[{self.row.lower:g}, {self.row.upper:g}])"
        )


def objection(separation: Sequence[Separation], solution: Solution, context: SeparationContext) -> Objection | None:
    """Return a separated row that a solution violates by more than rounding, or None."""
    if not separation:
        return None  # iterating over the columns is expensive
    whole = all(column.integer for column, _ in solution.columns) and solution.variables.keys() <= solution.integer
    allowed = TOLERANCES.pruning if whole else TOLERANCES.feasibility
    pairs = [(separator, row) for separator in separation for row in violated_rows(separator, solution, context)]
    found = activities([row for _, row in pairs], solution)
    return next(
        (Objection(*pair, there.value) for pair, there in zip(pairs, found, strict=True) if there.violation > allowed),
        None,
    )


def check_use(master: RestrictedMaster, pricing: Sequence[Pricing], solution: Solution, source: str) -> None:
    """Check a solution against each oracle's multiplicity and cost bound."""
    if all(oracle.cost_bound is None and math.isinf(oracle.multiplicity) for oracle in pricing):
        return
    sense, single = master.sense, len(pricing) == 1
    used = [0.0] * len(pricing)
    columns = [column for column, _ in solution.columns]
    places = [NOWHERE] * len(columns) if single else master.find(columns).tolist()
    for (column, value), where in zip(solution.columns, places, strict=True):
        number = 0 if single else None if where == NOWHERE else master.at(where).origin
        if number is None:
            continue
        used[number] += value
        oracle = pricing[number]
        least = oracle.cost_bound
        if least is not None and sense.is_better(column.cost, least, TOLERANCES.diagnostic * size(0.0, column.cost)):
            raise InvalidBoundError(
                f"{oracle.name} states cost_bound = {least:g}, but a solution found by {source} uses the column of "
                f"{column.structure!r}, which costs {column.cost:g}"
            )
    for oracle, amount in zip(pricing, used, strict=True):
        if amount > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic):
            raise InvalidBoundError(
                f"{oracle.name} states multiplicity = {oracle.multiplicity:g}, but a solution found by {source} uses "
                f"{amount:g} of its columns"
            )


def oracle_names(pricing: Sequence[Pricing]) -> str:
    """Return the oracles' names for a message."""
    return ", ".join(oracle.name for oracle in pricing) or "the problem (it has no oracle)"
