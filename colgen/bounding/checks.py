"""The checks that keep the loop honest: whatever oracles and separations return is held against all that is known."""

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
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult, priced

Floats = NDArray[np.float64]


def check_results(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Floats],
    duals: OwnDuals,
    context: PricingContext,
) -> None:
    """Hold each result, with its columns' reduced costs at ``duals``, against what is known."""
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
        # What is no farther from the bound than numbers can be compared needs no closer look.
        if count:
            best = sign * min((sign * reduced_costs).tolist()) if count <= _FEW else _best(reduced_costs, context)
            if sign * (bound - best) > near:
                _check_exact(context, oracle, bound, best, "a column that it returned itself")
        if sign * (bound - best_held) > near:
            _check_exact(context, oracle, bound, best_held, "a column that is in the master already")


_FEW = 8
"""So many numbers, or fewer, are compared one by one sooner than as an array."""


def _best(reduced_costs: Floats, context: PricingContext) -> float:
    return float(reduced_costs.min() if context.sense.sign > 0 else reduced_costs.max())


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
        if all(abs(said - found) <= TOLERANCES.diagnostic * max(scale, abs(said)) for said, found in pairs):
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
            f"and coefficients give {computed[k]:g}: compare how it encodes a structure with what it optimises"
            + (" (in phase 1 costs count zero, see context.cost_weight)" if context.cost_weight == 0 else "")
            + (f"; {parts}" if parts else "")
        )


def _check_decisions(oracle: Pricing, columns: Sequence[Column], context: PricingContext) -> None:
    if isinstance(columns, Columns) and columns.meanings.given is None:  # of a batch, the arrays tell
        for decision in context.decisions:
            mask = decision.allows_each(columns)
            if not mask.all():
                _refuse(oracle, columns[int(np.argmin(mask))], decision)
        return
    screen = screen_of(context.decisions)
    for column in columns:
        objection = screen.objection(column)
        if objection is not None:
            _refuse(oracle, column, objection)


def _refuse(oracle: Pricing, column: Column, decision: Decision) -> None:
    raise DecisionViolatedError(
        f"{oracle.name} returned the column of {column.structure!r}, which the branching decision {decision} forbids: "
        "the oracle must honour context.decisions"
    )


def check_told_apart(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    reduced_costs: Sequence[Floats],
    context: PricingContext,
) -> None:
    """Refuse columns that would improve a node, and that the master takes for others which the node forbids.

    Asked where a round has found no new column: these would never join.
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
                    f"{oracle.name} returned the column of {column.structure!r}, and the master takes it for that of "
                    f"{there.structure!r}, which a branching decision forbids: columns without a key are told apart by "
                    "cost and coefficients alone, so give each of these a key, Column(..., key=(block, index))"
                )


def check_not_repeated(
    oracle: Pricing, column: Column, held: Column, reduced_cost: float, scale: float, rounding: float
) -> None:
    """Refuse a column that the master holds, whose value could grow, and that still seems to improve it."""
    if abs(reduced_cost) <= TOLERANCES.diagnostic * size(scale, column.cost) + rounding:
        return
    why = f"two different columns share the key {column.key!r}, or its rows' functions changed"
    if column.key is None:
        why = (
            f"columns without a key are told apart by cost and coefficients alone, as that of {held.structure!r}; give "
            "those that differ otherwise a key, Column(..., key=(block, index)), unless it is the rows' functions that "
            "changed"
        )
    raise RepeatedColumnError(
        f"{oracle.name} returned the column of {column.structure!r} as improving (reduced cost {reduced_cost:g}), but "
        f"the master holds it already and has priced it out: {why}"
    )


def _check_exact(context: PricingContext, oracle: Pricing, bound: float, known: float, whose: str) -> None:
    tolerance = TOLERANCES.diagnostic * size(context.scale, known)
    if math.isfinite(known) and context.sense.is_better(known, bound, tolerance):
        raise OracleBeatenError(
            f"{oracle.name} claims that no reduced cost is better than {bound:g}, but {whose} has {known:g}: it is not "
            "exact, or it states a bound where it should state None"
        )


def check_weak_duality(
    master: RestrictedMaster, bound: float, solved: MasterSolution, pricing: Sequence[Pricing], scale: float
) -> None:
    """Refuse a dual bound that the restricted master's objective beats."""
    tolerance = TOLERANCES.diagnostic * size(scale, solved.objective)
    if not master.sense.is_better(solved.objective, bound, tolerance):
        return
    # Costs and a constant that cancel out leave the rounding error of the largest.
    terms = abs(master.precision.offset) + (solved.terms if solved.phase == 2 else 0.0)
    if math.isfinite(terms):
        tolerance = max(tolerance, SUMMED * ROUNDING * terms)
    overused = master.rows is not None and master.rows.overuses(solved, pricing)
    if master.sense.is_better(solved.objective, bound, tolerance) and not overused:
        raise InvalidBoundError(
            f"the dual bound {bound:g} is beaten by the restricted master's objective {solved.objective:g}: a bound "
            f"stated by {names(pricing)} is not valid, or a multiplicity or cost bound is too tight"
        )


def probe_infeasibility(
    master: RestrictedMaster, pricing: Sequence[Pricing], solved: MasterSolution, context: PricingContext
) -> None:
    """Before a node is called infeasible: check that no oracle overlooks, in phase 1, what it finds elsewhere.

    With duals multiplied by a large number an oracle that adds costs regardless finds what it should have found; one
    that honours the cost weight returns what it returned before.  With duals of the opposite sign, where the rows can
    have such, likewise one that reads them the wrong way round, and at zero duals one that returns the worst column;
    that is asked at the root alone, since such an oracle gets no further.
    """
    if not isinstance(solved.duals, Duals) or master.rows is None:
        return
    large = solved.duals.replace(1e6 * solved.duals.values)
    opposite = master.rows.signed(solved.duals.replace(-solved.duals.values))
    for oracle in pricing:
        claimed = priced(oracle, solved.duals, context).bound
        if claimed is None:
            continue
        _check_overlooked(
            oracle,
            priced(oracle, large, context).columns,
            claimed,
            solved.duals,
            context,
            "in phase 1 a column's own cost counts zero, so multiply costs by context.cost_weight",
        )
        if context.decisions:
            continue
        _check_overlooked(
            oracle,
            priced(oracle, opposite, context).columns,
            claimed,
            solved.duals,
            context,
            "it returns that one at other duals, of the opposite sign or zero; the reduced cost is c_j - πᵀa_j when "
            "minimising and when maximising",
        )


def _check_overlooked(
    oracle: Pricing, columns: Sequence[Column], claimed: float, duals: Duals, context: PricingContext, why: str
) -> None:
    """Refuse a claim that one of these columns beats."""
    for k, found in enumerate(context.reduced_costs(columns, duals)):
        if context.sense.is_better(found, claimed, TOLERANCES.diagnostic * size(context.scale, found)):
            # A batch that no master has seen knows what its columns mean, and not yet the names of their rows.
            structure = columns.meanings.of(k) if isinstance(columns, Columns) else columns[k].structure
            raise OracleBeatenError(
                f"{oracle.name} would make the problem infeasible, but it overlooked the column of {structure!r}: {why}"
            )


def check_rows(
    separator: Separation,
    rows: Sequence[Row],
    solution: Solution,
    known: Sequence[Solution],
    present: Container[object] = (),
) -> list[tuple[Row, float]]:
    """The rows that are to be added, and by how much the solution violates them: by more than rounding explains.

    Parameters
    ----------
    known
        Answers, which must satisfy them.
    present
        Names of the master's rows: the solver may then miss its sides by its own tolerance.

    Raises
    ------
    SeparationError
        If the solution clearly satisfies the row, if it cuts off an answer that we hold in our hands, or if the master
        has a row of its key, which the solution cannot violate.
    """
    here = activities(rows, solution)
    for row, found in zip(rows, here, strict=True):
        if found.value != found.value:  # no comparison with it would hold, and the row would be passed over
            raise FormulationError(f"row {row.key!r} has a coefficient that is not a finite number")
        if found.violation < -TOLERANCES.diagnostic:
            raise SeparationError(
                f"{separator.name} returned the row {row.key!r}, which the solution satisfies (activity "
                f"{found.value:g} in [{row.lower:g}, {row.upper:g}]): return violated rows only"
            )
    for answer in known if rows else ():
        for row, there in zip(rows, activities(rows, answer), strict=True):
            if there.violation > TOLERANCES.feasibility:
                raise SeparationError(
                    f"{separator.name} returned the row {row.key!r}, which cuts off a known answer of objective "
                    f"{answer.objective:g} (activity {there.value:g} outside [{row.lower:g}, {row.upper:g}]): rows "
                    "must be valid for every answer"
                )
    rooms = (TOLERANCES.feasibility if row.key in present else TOLERANCES.pruning for row in rows)
    return [
        (row, found.violation) for row, found, room in zip(rows, here, rooms, strict=True) if found.violation > room
    ]


def check_row(separator: Separation, row: Row, solution: Solution, known: Sequence[Solution]) -> bool:
    """Whether a row is to be added; see :func:`check_rows`."""
    return bool(check_rows(separator, [row], solution, known))


@dataclass(frozen=True)
class Objection:
    """A row that a separation has returned for a whole solution, which violates it."""

    separator: Separation
    row: Row
    activity: float

    def __str__(self) -> str:
        return (
            f"the row {self.row.key!r} of {self.separator.name} (activity {self.activity:g} outside "
            f"[{self.row.lower:g}, {self.row.upper:g}])"
        )


def objection(separation: Sequence[Separation], solution: Solution, context: SeparationContext) -> Objection | None:
    """A row of a separation that an answer violates by more than rounding, as in the master's own rows."""
    if not separation:
        return None  # columns may be many, and are made only if somebody looks at them
    whole = all(column.integer for column, _ in solution.columns) and solution.variables.keys() <= solution.integer
    room = TOLERANCES.pruning if whole else TOLERANCES.feasibility
    pairs = [(separator, row) for separator in separation for row in violated_rows(separator, solution, context)]
    found = activities([row for _, row in pairs], solution)
    return next(
        (Objection(*pair, there.value) for pair, there in zip(pairs, found, strict=True) if there.violation > room),
        None,
    )


def check_use(master: RestrictedMaster, pricing: Sequence[Pricing], solution: Solution, source: str) -> None:
    """Hold an answer against what each oracle states of its columns: how many are used, and what they cost at least."""
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
                f"{oracle.name} states cost_bound = {least:g}, but an answer found by {source} uses the column of "
                f"{column.structure!r}, which costs {column.cost:g}"
            )
    for oracle, amount in zip(pricing, used, strict=True):
        if amount > oracle.multiplicity * (1.0 + TOLERANCES.diagnostic):
            raise InvalidBoundError(
                f"{oracle.name} states multiplicity = {oracle.multiplicity:g}, but an answer found by {source} uses "
                f"{amount:g} of its columns"
            )


def names(pricing: Sequence[Pricing]) -> str:
    """The oracles, for a message."""
    return ", ".join(oracle.name for oracle in pricing) or "nobody (there is no pricing problem)"
