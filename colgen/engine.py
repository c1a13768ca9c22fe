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

import numpy as np
from numpy.typing import NDArray

from colgen.checks import (
    check_results,
    check_row,
    check_weak_duality,
    names,
    probe_infeasibility,
)
from colgen.columns import Column, Row
from colgen.duals import Duals
from colgen.errors import FormulationError, InvalidBoundError, SeparationError
from colgen.master import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing import Pricing, PricingContext
from colgen.result import Iteration, Termination
from colgen.run import Run
from colgen.sense import Sense
from colgen.separation import Separation
from colgen.solution import Solution
from colgen.stabilization import NoStabilization, Stabilization

Floats = NDArray[np.float64]

_PROGRESS = 1e-9
"""The objective must have improved by more than this before columns are deleted again."""


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
    cleaned_at = sense.hopeless  # the objective at which columns were last deleted
    while True:
        clock = time.perf_counter()
        solved = master.solve(run.seconds_left)
        master_seconds = time.perf_counter() - clock
        if solved.status is not MasterStatus.OPTIMAL:
            return _unsolved(solved, bound if phase == 2 else sense.ideal, pricing)
        if solved.phase != phase:  # another objective, so another dual function
            phase, bound, duals, cleaned_at = solved.phase, sense.ideal, None, sense.hopeless
            stabilization.reset(None if centre is None or phase == 1 else master.centre(centre))
            context = _in_phase(context, master, phase)

        clock = time.perf_counter()
        priced = _price(master, pricing, solved, stabilization, context, bound)
        if duals is None or sense.is_better(bound, priced.bound):
            bound, duals = priced.bound, priced.duals
        pricing_seconds = time.perf_counter() - clock
        check_weak_duality(sense, bound, solved, pricing)

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
                duals=_kept(settings, stabilization, solved, priced),
            )
        )
        if outcome is Outcome.INFEASIBLE:
            probe_infeasibility(pricing, solved, context)
            return Relaxed(outcome, sense.hopeless, solved)
        node_bound = bound if phase == 2 else sense.ideal
        if reason is not None and (outcome is None or outcome is Outcome.UNPROVED):
            return Relaxed(Outcome.STOPPED, node_bound, solved, reason, duals)
        if outcome is not None:
            return Relaxed(outcome, node_bound, solved, duals=duals)
        if settings.clean_up_after is not None and sense.is_better(solved.objective, cleaned_at, _PROGRESS):
            # Without progress in between, columns could be deleted and generated again for ever.
            cleaned_at = solved.objective
            master.remove_stale(settings.clean_up_after)


def _kept(settings: Settings, stabilization: Stabilization, solved: MasterSolution, priced: _Priced) -> Any:
    """Optimal dual values of the round's master, those that it was priced at if they are, for its record."""
    if not settings.keep_duals:
        return None
    return priced.duals if stabilization.complementary else solved.duals


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
    columns: list[Sequence[Column]]
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
    if not isinstance(solved.duals, Duals):
        stabilization = NoStabilization()  # messages of a dynamic program, say: nothing to take means of
    while True:
        duals = stabilization.propose(solved.duals)
        provisional = duals is not solved.duals and not stabilization.complementary
        asked = dataclasses.replace(context, provisional=True) if provisional else context
        results = [oracle.price(duals, asked) for oracle in pricing]
        reduced_costs = [np.asarray(master.reduced_costs(result.columns, duals)) for result in results]
        bests = check_results(master, pricing, results, reduced_costs, duals, context)
        here = master.dual_bound(duals, pricing, results)
        if math.isnan(here):
            raise InvalidBoundError(f"the oracles {names(pricing)} state a bound that is not a number")
        if bound_duals is None or sense.is_better(bound, here):
            bound, bound_duals = here, duals
        if provisional:
            reduced_costs = [np.asarray(master.reduced_costs(result.columns, solved.duals)) for result in results]
        columns = [
            master.improving(oracle, result.columns, mine, context.tolerance)
            for oracle, result, mine in zip(pricing, results, reduced_costs, strict=True)
        ]
        exact = all(result.bound is not None for result in results)
        done = any(map(len, columns)) or context.seconds_left() == 0.0 or not stabilization.misprice()
        if done:
            break
        misprices += 1
    improved = sense.is_better(best_bound, here) or math.isinf(best_bound)
    stabilization.update(improved, lambda: master.subgradient(solved, bests))
    # At smoothed duals, nothing found proves nothing about the master's own duals.
    exact = exact and not provisional
    return _Priced(columns, bound, bound_duals, exact, misprices)


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
            check_row(separator, row, solution, incumbent)
            rows.append(row)
    return rows


def _add(master: RestrictedMaster, priced: _Priced, rows: list[Row]) -> int:
    before = master.num_rows
    added = sum(master.add(columns, (), origin) for origin, columns in enumerate(priced.columns) if len(columns))
    if rows:
        master.add((), rows)
        if master.num_rows == before:
            raise SeparationError(
                f"the separated rows {[row.key for row in rows][:3]} are in the master already, yet the solution "
                "violates them: two different rows share a key"
            )
    return added
