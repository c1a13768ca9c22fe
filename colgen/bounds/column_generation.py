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
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounds.bounding import Bounded, Bounding, NodeState, Outcome, Parts, Settings
from colgen.bounds.checks import (
    check_results,
    check_row,
    check_weak_duality,
    names,
    probe_infeasibility,
)
from colgen.bounds.run import Run
from colgen.bounds.stabilization import NoStabilization, Stabilization
from colgen.core.columns import Column, Row
from colgen.core.duals import Duals
from colgen.core.errors import FormulationError, InvalidBoundError, SeparationError
from colgen.core.result import Iteration, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.cuts.separation import Separation
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult

Floats = NDArray[np.float64]


class ColumnGeneration(Bounding):
    """Column and row generation over the restricted master, a linear program as a rule."""

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        bounded = column_generation(
            parts.master,
            parts.oracles,
            parts.separation,
            parts.stabilization,
            parts.run,
            parts.context(node),
            parts.settings,
            (node.number, node.depth),
            node.duals,
            parts.found,
        )
        return dataclasses.replace(bounded, proved=True)


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
    found: Callable[[MasterSolution], None] = lambda solved: None,
) -> Bounded:
    """Solve a node's relaxation by column and row generation.

    Parameters
    ----------
    node
        Its number and depth.
    centre
        Dual values, of another node or guessed, at which stabilization may start; see :meth:`RestrictedMaster.centre`.
    found
        Called with each restricted master of phase 2 that may hold an answer, or be rounded to one.
    """
    sense, phase, bound, duals = master.sense, 0, master.sense.ideal, None
    solved: MasterSolution | None = None
    cleaned_at = sense.hopeless  # the objective at which columns were last deleted
    while True:
        spent = run.budget.reason
        if spent is not None:
            return Bounded(Outcome.STOPPED, bound if phase == 2 else sense.ideal, solved, spent, duals)
        clock = time.perf_counter()
        now = master.solve(run.budget)
        master_seconds = time.perf_counter() - clock
        if now.status is MasterStatus.UNBOUNDED and _bounded_by_rows(master, separation, run):
            continue
        if now.status is MasterStatus.LIMIT and now.values is not None:  # not optimal, and perhaps an answer
            found(now)
        if now.status is not MasterStatus.OPTIMAL:
            return _unsolved(now, bound if phase == 2 else sense.ideal, pricing, run)
        solved = now
        if solved.phase != phase:  # another objective, so another dual function
            phase, bound, duals, cleaned_at = solved.phase, sense.ideal, None, sense.hopeless
            stabilization.reset(None if centre is None or phase == 1 else master.centre(centre))
        context = _in_phase(context, master, phase, run, settings)

        clock = time.perf_counter()
        priced = _price(master, pricing, solved, stabilization, context, bound)
        if duals is None or sense.is_better(bound, priced.bound):
            bound, duals = priced.bound, priced.duals
        pricing_seconds = time.perf_counter() - clock
        if not master.overuses(solved, pricing):
            check_weak_duality(sense, bound, solved, pricing, context.scale)

        clock = time.perf_counter()
        rows: list[Row] = []
        if phase == 2 and not priced.num_columns:
            rows = _separate(master, separation, solved, run.known)
        separation_seconds = time.perf_counter() - clock
        if phase == 2 and not rows and (not separation or not priced.num_columns):
            found(solved)

        outcome = _decide(master, priced, rows, run, bound, solved, bool(separation), settings, node == (0, 0))
        size_before = (master.num_columns, master.num_rows)
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
                columns=size_before[0],
                rows=size_before[1],
                new_columns=added,
                new_rows=master.num_rows - size_before[1],
                misprices=priced.misprices,
                seconds=run.seconds,
                master_seconds=master_seconds,
                pricing_seconds=pricing_seconds,
                separation_seconds=separation_seconds,
                duals=_kept(settings, stabilization, solved, priced),
            ),
            proves=settings.stop_early,
        )
        if outcome is Outcome.INFEASIBLE:
            probe_infeasibility(pricing, solved, context)
            return Bounded(outcome, sense.hopeless, solved)
        node_bound = bound if phase == 2 else sense.ideal
        if outcome is Outcome.UNPROVED:  # an oracle that was cut off is not one that is not exact
            reason = reason or run.budget.reason or priced.cut_off(context)
        if reason is not None and (outcome is None or outcome is Outcome.UNPROVED):
            return Bounded(Outcome.STOPPED, node_bound, solved, reason, duals)
        if outcome is not None:
            return Bounded(outcome, node_bound, solved, duals=duals, weakness=priced.weakness(pricing, context))
        progress = TOLERANCES.pruning * size(context.scale, solved.objective)
        if settings.clean_up_after is not None and sense.is_better(solved.objective, cleaned_at, progress):
            # Without progress in between, columns could be deleted and generated again for ever.
            cleaned_at = solved.objective
            master.remove_stale(settings.clean_up_after)


def _bounded_by_rows(master: RestrictedMaster, separation: Sequence[Separation], run: Run) -> bool:
    """Whether rows that would be separated bound a master that is unbounded without them; they are added."""
    if not separation:
        return False
    far = master.solve_in_a_box(run.budget)
    solution = None if far is None else master.solution(far)
    if solution is None:
        return False
    # At such distances rounding may violate rows that the master has.
    violated = [row for separator in separation for row in separator.separate(solution) if not master.has_row(row.key)]
    if violated:
        master.add((), violated)
    return bool(violated)


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
    # At the root only once no column improves: until then a multiplicity that is too small may be all that says so.
    if solved.phase == 1 and _exceeds(master.sense, bound, master) and not (root and priced.num_columns):
        return Outcome.INFEASIBLE
    if solved.phase == 2 and settings.stop_early and run.prunes(bound):
        return Outcome.PRUNED
    if solved.phase == 2 and settings.round_early and not separates and _rounding_decides(run, bound, solved):
        return Outcome.SOLVED
    if priced.num_columns or rows:
        return None
    return Outcome.SOLVED if priced.exact and solved.phase == 2 else Outcome.UNPROVED


def _in_phase(
    context: PricingContext, master: RestrictedMaster, phase: int, run: Run, settings: Settings
) -> PricingContext:
    """What oracles are told in this phase, at the present scale of the objective."""
    scale = 1.0  # in phase 1 an objective counts violations, and rows are scaled
    if phase == 2:
        scale = run.scale = settings.scale or master.scale
    return dataclasses.replace(
        context,
        cost_weight=1.0 if phase == 2 else 0.0,
        pricing_out=master.reduced_costs,
        scale=max(scale, master.rounding / TOLERANCES.diagnostic),  # numbers cannot be compared any nearer
        tolerance=settings.tolerance * scale,
        held=master.holds,
    )


def _unsolved(solved: MasterSolution, bound: float, pricing: Sequence[Pricing], run: Run) -> Bounded:
    if solved.status is MasterStatus.LIMIT:
        return Bounded(Outcome.STOPPED, bound, None, run.budget.reason or Termination.TIME_LIMIT)
    if solved.status is MasterStatus.UNBOUNDED:
        return Bounded(Outcome.UNBOUNDED, bound, None)
    if pricing and solved.phase == 2:
        raise FormulationError(
            "the restricted master is infeasible before any column can be priced: mark artificial variables in the "
            "template with colgen.artificial(...) so that its rows can be satisfied without columns"
        )
    return Bounded(Outcome.INFEASIBLE, bound, None)


def _exceeds(sense: Sense, bound: float, master: RestrictedMaster) -> bool:
    """Whether a phase 1 bound proves that the artificial variables cannot all be zero."""
    return sense.sign * bound > getattr(master, "feasibility_tolerance", 0.0)


def _rounding_decides(run: Run, bound: float, solved: MasterSolution) -> bool:
    """Whether the node's rounded bound cannot change any more: the master's objective rounds to the same value."""
    if run.step is None or math.isinf(bound):
        return False
    return not run.sense.is_better(run.round_bound(bound), run.round_bound(solved.objective))


_GIVEN_UP = 0.05
"""An oracle that gives up when no more than this share of the time is left does so because of the deadline."""


# --- pricing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Priced:
    columns: list[Sequence[Column]]
    bound: float
    duals: Any
    exact: bool
    misprices: int
    results: Sequence[PricingResult]
    reduced_costs: Sequence[Floats]

    @property
    def num_columns(self) -> int:
        return sum(map(len, self.columns))

    def cut_off(self, context: PricingContext) -> Termination | None:
        """Why the run must stop if an oracle gave up early: it did so for want of time."""
        nearly = context.deadline < math.inf and context.seconds_left() <= _GIVEN_UP * context.budget.seconds
        return Termination.TIME_LIMIT if nearly and any(result.cut_off for result in self.results) else None

    def weakness(self, pricing: Sequence[Pricing], context: PricingContext) -> str:
        """Which oracles state no bound, or one that none of their columns comes up to."""
        said = []
        for oracle, result, costs in zip(pricing, self.results, self.reduced_costs, strict=True):
            if result.bound is None:
                said.append(f"{oracle.name} states no bound" + (": it was cut off" if result.cut_off else ""))
                continue
            best = float(costs[np.argmax(context.sense.gains(costs))]) if len(costs) else None
            if context.improves(result.bound) and (best is None or not context.improves(best)):
                has = "it returns no column" if best is None else f"its best column has {best:.6g}"
                said.append(f"{oracle.name} states that reduced costs may be as good as {result.bound:.6g}, but {has}")
        return "; ".join(said)


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
        exact = all(result.bound is not None and not result.cut_off for result in results)
        done = any(map(len, columns)) or context.seconds_left() == 0.0 or not stabilization.misprice()
        if done:
            break
        misprices += 1
    improved = sense.is_better(best_bound, here) or math.isinf(best_bound)
    stabilization.update(improved, lambda: master.subgradient(solved, bests))
    # At smoothed duals, nothing found proves nothing about the master's own duals.
    exact = exact and not provisional
    return _Priced(columns, bound, bound_duals, exact, misprices, results, reduced_costs)


# --- separation and adding -------------------------------------------------------------------------------------------


def _separate(
    master: RestrictedMaster, separation: Sequence[Separation], solved: MasterSolution, known: Sequence[Solution]
) -> list[Row]:
    if not separation:
        return []
    solution = master.solution(solved)
    return [
        row
        for separator in separation
        for row in separator.separate(solution)
        if check_row(separator, row, solution, known, present=master.has_row(row.key))
    ]


def _add(master: RestrictedMaster, priced: _Priced, rows: list[Row]) -> int:
    before = master.num_rows
    added = sum(master.add(batch, (), origin) for origin, batch in enumerate(priced.columns) if len(batch))
    if rows:
        master.add((), rows)
        if master.num_rows == before:
            raise SeparationError(
                f"the separated rows {[row.key for row in rows][:3]} are in the master already, yet the solution "
                "violates them: two different rows share a key"
            )
    return added
