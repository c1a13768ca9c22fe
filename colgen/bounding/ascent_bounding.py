"""Bound nodes by an ascent of the Lagrangian dual; base class of subgradient, volume and bundle methods."""

from __future__ import annotations

import math
from abc import abstractmethod

from colgen.bounding.ascent import Ascent, DualEvaluation, Floats
from colgen.bounding.guesses import Proved, guess_context, record
from colgen.bounding.lagrangian_dual import LagrangianDual
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.errors import InputError
from colgen.core.result import Termination
from colgen.master.protocol import real_costs
from colgen.solvers.compiling import working_clock

_COLUMNS_PER_ROW = 4
"""Number of columns per linking row that join the master, those of largest value in the averaged solution."""


class AscentBounding(Bounding):
    """Bound a node by an ascent of the Lagrangian dual, without a linear program.

    The ascent direction is the violation of the linking rows by the oracles' best columns.  All oracles must be exact.
    Each ``multiplicity`` must be finite, or the results must have a ``total``. If there is an incumbent, a positive
    ``cost_bound`` suffices, because the two together limit the number of columns.  The bound approaches that of the
    linear program.  The average of the oracles' solutions approximates its solution, and is used for branching and
    heuristics.  Column generation may continue from the columns and dual values:
    ``Chain(Volume(200), ColumnGeneration())``.

    Parameters
    ----------
    rounds
        Maximum number of rounds at each node, at least 1.
    """

    def __init__(self, rounds: int = 500) -> None:
        if rounds < 1:
            raise InputError(f"{type(self).__name__}: expected rounds of 1 or more, got {rounds}")
        self.rounds = rounds

    @abstractmethod
    def ascent(self, start: Floats, lower: Floats, upper: Floats, unit: float, target: float) -> Ascent:
        """Return the method at its start; see :class:`colgen.bounding.ascent.Ascent`."""

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        master, run = parts.master, parts.run
        with real_costs(master):
            context = guess_context(master, parts.context(node), parts.settings)
            dual = LagrangianDual(master, parts.oracles, context, run.objective)
            outcome, reason, sized = Outcome.SOLVED, None, False
            ascent: Ascent | None = None
            point = dual.start(node.duals)
            for _ in range(self.rounds):
                reason = run.budget.reason
                if reason is not None:
                    break
                clock = working_clock()
                here = dual.evaluate(point)
                if ascent is None or (dual.unit and not sized):  # the size of costs, and so of steps, is known now
                    sized = dual.unit > 0.0
                    target = run.sense.sign * run.objective if math.isfinite(run.objective) else math.inf
                    best = here if ascent is None or ascent.best is None else ascent.best
                    ascent, here = self.ascent(best.point, dual.lower, dual.upper, dual.unit or 1.0, target), best
                ascent.update(here)
                point = ascent.point
                self._offer(here, dual, parts)
                now = Proved(dual.bound, dual.duals)
                reason = record(run, master, now, (node.number, node.depth), clock, parts.settings)
                if parts.settings.stop_early and run.prunes(dual.bound):
                    outcome = Outcome.PRUNED
                    break
                if reason is not None or dual.cut_off or ascent.converged:
                    break
        if reason is None and outcome is not Outcome.PRUNED and dual.cut_off:
            reason = run.budget.reason or Termination.TIME_LIMIT
        if reason is not None:
            outcome = Outcome.STOPPED
        if ascent is None:
            return Bounded(outcome, run.sense.ideal, termination=reason, duals=node.duals)
        average = list(ascent.average)
        columns = dual.columns(average, _COLUMNS_PER_ROW * max(len(point), 1))
        for origin, batches in enumerate(columns):
            for batch in batches:
                if len(batch):
                    run.columns_generated += master.add(batch, (), origin)
        return Bounded(
            outcome,
            dual.bound,
            termination=reason,
            duals=dual.duals,
            solution=dual.solution(average),
        )

    def _offer(self, here: DualEvaluation, dual: LagrangianDual, parts: Parts) -> None:
        """Offer the oracles' solution as an incumbent if it satisfies the linking rows."""
        run = parts.run
        if (
            not here.solution.holds
            or not parts.settings.stop_early
            or here.solution.size > _COLUMNS_PER_ROW * len(here.point)
        ):
            return
        if run.sense.is_better(dual.cost(here.solution), run.objective):
            solution = dual.solution([(1.0, here.solution)])
            rows = parts.master.rows
            if solution is not None and (rows is None or rows.violation(solution) is None):
                parts.take(solution, type(self).__name__)
