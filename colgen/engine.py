"""Column and row generation at one node: the loop, and the checks that keep it honest.

    solve the restricted master                      objective, duals
    price at (stabilized) duals                      columns, and a bound on all reduced costs
    the dual bound of the node                       from the oracles' bounds, by weak duality
    separate, if no column improves                  rows that the solution violates
    add columns and rows, record the round, repeat

It ends when the oracles prove that no column improves and no row is violated (the dual bound then meets the objective),
when the bound shows that the node cannot hold a better answer, or when a stop rule says so.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from colgen.columns import Column, Row
from colgen.duals import Duals
from colgen.errors import (
    DecisionViolatedError,
    FormulationError,
    InvalidBoundError,
    OracleBeatenError,
    ReducedCostError,
    RepeatedColumnError,
    SeparationError,
)
from colgen.master import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing import Pricing, PricingContext, PricingResult
from colgen.result import Iteration, Termination
from colgen.run import Run
from colgen.sense import Sense
from colgen.separation import Separation
from colgen.solution import Solution
from colgen.stabilization import Stabilization

_CHECK = 1e-6
"""Relative tolerance of the diagnostics: far above rounding, far below any real mistake."""


class Outcome(enum.Enum):
    """How column generation at a node ended."""

    SOLVED = "solved"
    PRUNED = "pruned by its bound"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNPROVED = "not proved: no exact oracle"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Relaxed:
    """What column generation found at a node.

    Attributes
    ----------
    bound
        On the node's answers, before any rounding.
    solved
        The last restricted master.
    duals
        Dual values at which ``bound`` was proved.
    termination
        Why the whole run must stop, where the outcome is ``STOPPED``.
    """

    outcome: Outcome
    bound: float
    solved: MasterSolution | None = None
    termination: Termination | None = None
    duals: Any = None


@dataclass(frozen=True)
class Settings:
    """How column generation is to be run.

    Attributes
    ----------
    stop_early
        End as soon as the bound decides what the tree wants to know (its rounded value, or that the node is to be
        pruned).
    clean_up_after
        Delete columns whose reduced cost has kept them out for this many solves; None keeps all.
    keep_duals
        Keep the dual values of each round in its record.
    """

    stop_early: bool = True
    round_early: bool = True
    clean_up_after: int | None = None
    keep_duals: bool = False


def column_generation(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    separation: Sequence[Separation],
    stabilization: Stabilization,
    run: Run,
    context: PricingContext,
    settings: Settings,
    node: tuple[int, int] = (0, 0),
    centre: Any = None,
) -> Relaxed:
    """Solve a node's relaxation by column and row generation.

    Parameters
    ----------
    node
        Its number and depth.
    centre
        Dual values, of another node or guessed, at which stabilization may start; see :meth:`RestrictedMaster.centre`.
    """
    sense, phase, bound, duals = master.sense, 0, master.sense.ideal, None
    while True:
        clock = time.perf_counter()
        solved = master.solve(run.seconds_left)
        master_seconds = time.perf_counter() - clock
        if solved.status is not MasterStatus.OPTIMAL:
            return _unsolved(solved, bound if phase == 2 else sense.ideal, pricing)
        if solved.phase != phase:  # another objective, so another dual function
            phase, bound, duals = solved.phase, sense.ideal, None
            stabilization.reset(None if centre is None or phase == 1 else master.centre(centre))
            context = _in_phase(context, master, phase)

        clock = time.perf_counter()
        priced = _price(master, pricing, solved, stabilization, context, bound)
        if duals is None or sense.is_better(bound, priced.bound):
            bound, duals = priced.bound, priced.duals
        pricing_seconds = time.perf_counter() - clock
        _check_weak_duality(sense, bound, solved, pricing)

        clock = time.perf_counter()
        rows: list[Row] = []
        if phase == 2 and not priced.num_columns:
            rows = _separate(master, separation, solved, run.incumbent)
        separation_seconds = time.perf_counter() - clock

        outcome = _decide(master, priced, rows, run, bound, solved, bool(separation), settings, node == (0, 0))
        size = (master.num_columns, master.num_rows)
        added = _add(master, priced, rows) if outcome is None else 0
        live_bound = run.round_bound(bound) if phase == 2 and node == (0, 0) else sense.ideal
        reason = run.record(
            Iteration(
                number=len(run.iterations),
                node=node[0],
                depth=node[1],
                phase=phase,
                objective=solved.objective,
                dual_bound=bound,
                incumbent=run.objective,
                # After a reduction the bound is one on the answers of interest only, all better than the incumbent.
                global_bound=sense.best(sense.worst(run.global_bound, live_bound), run.objective),
                columns=size[0],
                rows=size[1],
                new_columns=added,
                new_rows=master.num_rows - size[1],
                misprices=priced.misprices,
                seconds=run.seconds,
                master_seconds=master_seconds,
                pricing_seconds=pricing_seconds,
                separation_seconds=separation_seconds,
                duals=solved.duals if settings.keep_duals else None,
            )
        )
        if outcome is Outcome.INFEASIBLE:
            _probe_infeasibility(pricing, solved, context)
            return Relaxed(outcome, sense.hopeless, solved)
        node_bound = bound if phase == 2 else sense.ideal
        if reason is not None and (outcome is None or outcome is Outcome.UNPROVED):
            return Relaxed(Outcome.STOPPED, node_bound, solved, reason, duals)
        if outcome is not None:
            return Relaxed(outcome, node_bound, solved, duals=duals)
        if settings.clean_up_after is not None:
            master.remove_stale(settings.clean_up_after)


def _decide(
    master: RestrictedMaster,
    priced: _Priced,
    rows: list[Row],
    run: Run,
    bound: float,
    solved: MasterSolution,
    separates: bool,
    settings: Settings,
    root: bool,
) -> Outcome | None:
    """How a round ends column generation; None if it goes on."""
    # At the root only once no column improves: by then weak duality has refuted a multiplicity that is too small.
    if solved.phase == 1 and _exceeds(master.sense, bound, master) and not (root and priced.num_columns):
        return Outcome.INFEASIBLE
    if solved.phase == 2 and settings.stop_early and run.prunes(bound):
        return Outcome.PRUNED
    if solved.phase == 2 and settings.round_early and not separates and _rounding_decides(run, bound, solved):
        return Outcome.SOLVED
    if priced.num_columns or rows:
        return None
    return Outcome.SOLVED if priced.exact and solved.phase == 2 else Outcome.UNPROVED


def _in_phase(context: PricingContext, master: RestrictedMaster, phase: int) -> PricingContext:
    return dataclasses.replace(context, cost_weight=1.0 if phase == 2 else 0.0, pricing_out=master.reduced_costs)


def _unsolved(solved: MasterSolution, bound: float, pricing: Sequence[Pricing]) -> Relaxed:
    if solved.status is MasterStatus.LIMIT:
        return Relaxed(Outcome.STOPPED, bound, None, Termination.TIME_LIMIT)
    if solved.status is MasterStatus.UNBOUNDED:
        return Relaxed(Outcome.UNBOUNDED, bound, None)
    if pricing and solved.phase == 2:
        raise FormulationError(
            "the restricted master is infeasible before any column can be priced: mark artificial variables in the "
            "template with colgen.artificial(...) so that its rows can be satisfied without columns"
        )
    return Relaxed(Outcome.INFEASIBLE, bound, None)


def _exceeds(sense: Sense, bound: float, master: RestrictedMaster) -> bool:
    """Whether a phase 1 bound proves that the artificial variables cannot all be zero."""
    return sense.sign * bound > getattr(master, "feasibility_tolerance", 0.0)


def _rounding_decides(run: Run, bound: float, solved: MasterSolution) -> bool:
    """Whether the node's rounded bound cannot change any more: the master's objective rounds to the same value."""
    if run.step is None or math.isinf(bound):
        return False
    return not run.sense.is_better(run.round_bound(bound), run.round_bound(solved.objective))


# --- pricing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Priced:
    columns: list[list[Column]]
    bound: float
    duals: Any
    exact: bool
    misprices: int

    @property
    def num_columns(self) -> int:
        return sum(map(len, self.columns))


def _price(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    solved: MasterSolution,
    stabilization: Stabilization,
    context: PricingContext,
    best_bound: float,
) -> _Priced:
    """One round of pricing: at smoothed duals first, nearer to the master's own after each misprice."""
    sense, misprices, bound, bound_duals = master.sense, 0, master.sense.ideal, None
    while True:
        duals = stabilization.propose(solved.duals)
        results = [oracle.price(duals, context) for oracle in pricing]
        reduced_costs = [master.reduced_costs(result.columns, duals) for result in results]
        bests = _check_results(master, pricing, results, reduced_costs, duals, context)
        here = master.dual_bound(duals, pricing, [result.bound for result in results])
        if math.isnan(here):
            raise InvalidBoundError(f"the oracles {_names(pricing)} state a bound that is not a number")
        if bound_duals is None or sense.is_better(bound, here):
            bound, bound_duals = here, duals
        if duals is not solved.duals:
            reduced_costs = [master.reduced_costs(result.columns, solved.duals) for result in results]
        columns = [
            _improving(master, oracle, result, mine, context)
            for oracle, result, mine in zip(pricing, results, reduced_costs, strict=True)
        ]
        exact = all(result.bound is not None for result in results)
        done = any(columns) or context.seconds_left() == 0.0 or not stabilization.misprice()
        if done:
            break
        misprices += 1
    improved = sense.is_better(best_bound, here) or math.isinf(best_bound)
    stabilization.update(improved, lambda: master.subgradient(solved, bests))
    # At smoothed duals, nothing found proves nothing about the master's own duals.
    exact = exact and duals is solved.duals
    return _Priced(columns, bound, bound_duals, exact, misprices)


def _improving(
    master: RestrictedMaster,
    oracle: Pricing,
    result: PricingResult,
    reduced_costs: Sequence[float],
    context: PricingContext,
) -> list[Column]:
    """The columns that improve the master at its own duals, given their reduced costs there."""
    chosen = []
    for column, reduced_cost in zip(result.columns, reduced_costs, strict=True):
        if not context.improves(reduced_cost):
            continue
        if not master.holds(column):
            chosen.append(column)
        elif master.is_open(column) and abs(reduced_cost) > _CHECK * max(1.0, abs(column.cost)):
            raise RepeatedColumnError(
                f"{oracle.name} returned the column of {column.structure!r} as improving (reduced cost "
                f"{reduced_cost:g}), but the master "
                "holds it already and has priced it out: two different columns share a key, or its rows' functions "
                "changed"
            )
    return chosen


def _check_results(
    master: RestrictedMaster,
    pricing: Sequence[Pricing],
    results: Sequence[PricingResult],
    found: Sequence[Sequence[float]],
    duals: Duals,
    context: PricingContext,
) -> list[Column | None]:
    """Hold each result, with its columns' reduced costs, against what is known; returns each problem's best column."""
    sense = master.sense
    bests: list[Column | None] = []
    for oracle, result, reduced_costs in zip(pricing, results, found, strict=True):
        best: int | None = None
        for k, (column, reduced_cost) in enumerate(zip(result.columns, reduced_costs, strict=True)):
            stated = result.reduced_costs[k] if result.reduced_costs and k < len(result.reduced_costs) else None
            if stated is not None and not _agree(stated, reduced_cost, column.cost):
                raise ReducedCostError(
                    f"{oracle.name} states the reduced cost {stated:g} for the column of {column.structure!r}, but "
                    "its cost and coefficients "
                    f"give {reduced_cost:g}: compare how it encodes a structure with what it optimises"
                    + (" (in phase 1 costs count zero, see context.cost_weight)" if context.cost_weight == 0 else "")
                )
            if not context.allows(column):
                blame = next(d for d in context.decisions if not d.allows(column))
                raise DecisionViolatedError(
                    f"{oracle.name} returned the column of {column.structure!r}, which the branching decision {blame} "
                    "forbids: "
                    "the oracle must honour context.decisions"
                )
            if best is None or sense.is_better(reduced_cost, reduced_costs[best]):
                best = k
        bests.append(None if best is None else result.columns[best])
        if result.bound is None:
            continue
        if math.isnan(result.bound):
            raise InvalidBoundError(f"{oracle.name} states a bound that is not a number")
        if best is not None:
            _check_not_beaten(sense, oracle, result.bound, reduced_costs[best], "a column that it returned itself")
        if len(pricing) == 1:
            known = master.best_known(duals, None)
        else:
            known = master.best_known(duals, list(pricing).index(oracle))
        _check_not_beaten(sense, oracle, result.bound, known, "a column that is in the master already")
    return bests


def _check_not_beaten(sense: Sense, oracle: Pricing, bound: float, known: float, whose: str) -> None:
    if math.isinf(known):
        return
    if sense.is_better(known, bound, _CHECK * max(1.0, abs(known))):
        raise OracleBeatenError(
            f"{oracle.name} claims that no reduced cost is better than {bound:g}, but {whose} has {known:g}: it is "
            "not exact, "
            "or it states a bound where it should state None"
        )


def _agree(stated: float, computed: float, scale: float) -> bool:
    return abs(stated - computed) <= _CHECK * max(1.0, abs(stated), abs(scale))


def _check_weak_duality(sense: Sense, bound: float, solved: MasterSolution, pricing: Sequence[Pricing]) -> None:
    if sense.is_better(solved.objective, bound, _CHECK * max(1.0, abs(solved.objective))):
        raise InvalidBoundError(
            f"the dual bound {bound:g} is beaten by the restricted master's objective {solved.objective:g}: a bound "
            "stated by "
            f"{_names(pricing)} is not valid, or a multiplicity or cost bound is too tight"
        )


def _probe_infeasibility(pricing: Sequence[Pricing], solved: MasterSolution, context: PricingContext) -> None:
    """Before infeasibility is believed: check that no oracle forgets that costs count zero in phase 1.

    With duals multiplied by a large number an oracle that adds costs regardless finds what it should have found; one
    that honours the cost weight returns what it returned before.
    """
    if not isinstance(solved.duals, Duals):
        return
    large = solved.duals.replace(1e6 * solved.duals.values)
    for oracle in pricing:
        claimed = oracle.price(solved.duals, context).bound
        if claimed is None:
            continue
        columns = list(oracle.price(large, context).columns)
        for column, found in zip(columns, context.reduced_costs(columns, solved.duals), strict=True):
            if context.sense.is_better(found, claimed, _CHECK * max(1.0, abs(found))):
                raise OracleBeatenError(
                    f"{oracle.name} would make the problem infeasible, but it overlooked the column of "
                    f"{column.structure!r}: in phase 1 "
                    "a column's own cost counts zero, so multiply costs by context.cost_weight"
                )


# --- separation and adding -------------------------------------------------------------------------------------------


def _separate(
    master: RestrictedMaster, separation: Sequence[Separation], solved: MasterSolution, incumbent: Solution | None
) -> list[Row]:
    if not separation:
        return []
    solution = master.solution(solved)
    rows: list[Row] = []
    for separator in separation:
        for row in separator.separate(solution):
            activity = row_activity(row, solution)
            if row.lower - 1e-9 <= activity <= row.upper + 1e-9:
                raise SeparationError(
                    f"{separator.name} returned the row {row.key!r}, which the solution satisfies (activity "
                    f"{activity:g} in [{row.lower:g}, {row.upper:g}]): return violated rows only"
                )
            if incumbent is not None and not row.lower - _CHECK <= row_activity(row, incumbent) <= row.upper + _CHECK:
                raise SeparationError(
                    f"{separator.name} returned the row {row.key!r}, which cuts off a known answer of objective "
                    f"{incumbent.objective:g}: rows must be valid for every answer"
                )
            rows.append(row)
    return rows


def row_activity(row: Row, solution: Solution) -> float:
    """Activity of a row at a solution."""
    total = sum(row.coefficients.get(key, 0.0) * value for key, value in solution.variables.items())
    for column, value in solution.columns:
        if row.key in column.coefficients:
            total += column.coefficients[row.key] * value
        elif column.key is not None and column.key in row.coefficients:
            total += row.coefficients[column.key] * value
        elif row.coefficient is not None:
            total += row.coefficient(column) * value
    return total


def _add(master: RestrictedMaster, priced: _Priced, rows: list[Row]) -> int:
    before = master.num_rows
    added = sum(master.add(columns, (), origin) for origin, columns in enumerate(priced.columns) if columns)
    if rows:
        master.add((), rows)
        if master.num_rows == before:
            raise SeparationError(
                f"the separated rows {[row.key for row in rows][:3]} are in the master already, yet the solution "
                "violates them: "
                "two different rows share a key"
            )
    return added


def _names(pricing: Sequence[Pricing]) -> str:
    return ", ".join(oracle.name for oracle in pricing) or "nobody (there is no pricing problem)"
