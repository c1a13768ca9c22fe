"""Column and row generation at one node."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from colgen.bounding.checks import check_rows, check_weak_duality, probe_infeasibility
from colgen.bounding.pricing_round import PricedRound, Pricer
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.bounding.run import MASTER, PRICING, SEPARATION, Recorder, Run
from colgen.core.columns import Key, Row
from colgen.core.duals import DualPoint, Duals, DualVector
from colgen.core.errors import FormulationError, InputError, SeparationError
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.terms import Linear, Term
from colgen.core.text import plural
from colgen.core.tolerances import COMMON, TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.dual_bound import stated_bound
from colgen.master.protocol import Floats, MasterSolution, MasterStatus, RestrictedMaster, is_integral
from colgen.pricing.oracles import PricingContext, check_terms_supported
from colgen.stabilization import Stabilization

_FEWER, _FEWEST = 0.2, 0.1
"""Factor of the share of cuts per round after pricing with them took too long, and the share below which it is 0."""


def separation_context(parts: Parts, node: NodeState, solved: MasterSolution, bound: float) -> SeparationContext:
    """Return the context of separations for a restricted master's solution at a node."""
    run, master = parts.run, parts.master
    return SeparationContext(
        run.sense,
        node.number,
        node.depth,
        len(run.iterations),
        is_integral(master, solved),
        solved.duals,
        bound,
        run.objective,
        run.scale,
        run.budget,
        node.decisions,
    )


def separate(parts: Parts, solution: Solution, context: SeparationContext) -> list[Row]:
    """Return the rows to add that a restricted master's solution violates."""
    found: list[Row] = []
    run = parts.run
    lags = run.sense.lags(context.bound, run.best_waiting, run.objective)
    for separator in parts.separation:
        if context.whole or separator.applies(context.depth):
            rows = violated_rows(separator, solution, context)
            waits = lags or (run.cuts_wait and separator.after_fixing)
            rows = _limit_cuts(rows, 0.0 if waits else run.cut_share)
            found += _select_rows(separator, rows, parts, solution)
    return found


def _limit_cuts(rows: Sequence[Row], share: float) -> list[Row]:
    """Return rows with only the first part of those that change pricing, at least one unless ``share`` is 0."""
    cuts = [row for row in rows if _changes_pricing(row.key)]
    kept = {row.key for row in cuts[: math.ceil(share * len(cuts))]}
    return [row for row in rows if not _changes_pricing(row.key) or row.key in kept]


def _changes_pricing(key: Key) -> bool:
    """Return whether dual values of the row are more than costs of parts of a column."""
    return isinstance(key[1], Term) and not isinstance(key[1], Linear)


def _select_rows(separator: Separation, rows: Sequence[Row], parts: Parts, solution: Solution) -> list[Row]:
    """Return the rows that are violated by more than rounding, at most ``separator.limit`` of them."""
    check_terms_supported(parts.oracles, rows)
    known = parts.run.known if separator.exhaustive else ()
    violated = check_rows(separator, rows, solution, known, parts.master.rows or ())
    if separator.limit is not None and len(violated) > separator.limit:
        worst = sorted(range(len(violated)), key=lambda k: -violated[k][1])[: max(separator.limit, 1)]
        violated = [violated[k] for k in sorted(worst)]
    return [row for row, _ in violated]


@dataclass
class NodeProgress:
    """The bounds that the rounds at a node have proved in the present phase.

    ``bound`` is the best dual bound, at ``duals``.  Each phase has its own objective, and so its own dual function.
    ``known`` is an earlier bound of phase 2 with its dual values; ``own`` is the best bound without it.  ``cleaned_at``
    is the objective when columns were last deleted.
    """

    sense: Sense
    known: tuple[float, DualPoint] | None = None
    solved: MasterSolution | None = None
    phase: int = 0
    bound: float = 0.0
    own: float = 0.0
    duals: DualPoint = None
    cleaned_at: float = 0.0

    def __post_init__(self) -> None:
        self.bound = self.own = self.sense.ideal
        self.cleaned_at = self.sense.hopeless

    def update_master(self, solved: MasterSolution) -> bool:
        """Store the restricted master's solution.  Return whether it begins another phase."""
        self.solved = solved
        if solved.phase == self.phase:
            return False
        self.phase, self.bound, self.own, self.duals = solved.phase, self.sense.ideal, self.sense.ideal, None
        if solved.phase == 2 and self.known is not None:
            self.bound, self.duals = self.known
        self.cleaned_at = self.sense.hopeless
        return True

    def add_round(self, priced: PricedRound) -> None:
        """Update the bounds by a round of pricing."""
        if priced.real is not None:
            self._add_real_bound(*priced.real)
        if self.sense.is_better(self.own, priced.bound):
            self.own = priced.bound
        if self.duals is None or self.sense.is_better(self.bound, priced.bound):
            self.bound, self.duals = priced.bound, priced.duals

    def _add_real_bound(self, bound: float, duals: DualPoint) -> None:
        """Store a bound of phase 2 that was proved in phase 1, unless it is infinite.

        Infeasibility may depend on rows that are not separated yet.  The master proves it once they are added.
        """
        if math.isfinite(bound) and (self.known is None or self.sense.is_better(self.known[0], bound)):
            self.known = bound, duals

    def keep_bound(self) -> None:
        """Store the bound of phase 2 for later phases."""
        if self.phase == 2:
            self.known = self.bound, self.duals

    def has_progressed(self, scale: float) -> bool:
        """Return whether the objective has improved since columns were last deleted; if so, columns may be deleted.

        Without progress the same columns could be deleted and generated again in an infinite loop.
        """
        assert self.solved is not None
        objective = self.solved.objective
        if not self.sense.is_better(objective, self.cleaned_at, TOLERANCES.pruning * size(scale, objective)):
            return False
        self.cleaned_at = objective
        return True

    def begin_without(self) -> None:
        """Forget which bound is that of the present rows, as some were released.  The best bound stays valid."""
        self.own = self.sense.ideal

    @property
    def node_bound(self) -> float:
        """Dual bound of the node; phase 1 proves none."""
        return self.bound if self.phase == 2 else self.sense.ideal

    def result(self, outcome: Outcome, termination: Termination | None = None, weakness: str = "") -> Bounded:
        """Return the result of bounding the node."""
        return Bounded(outcome, self.node_bound, self.solved, termination, self.duals, weakness, proved=True)


class ColumnGeneration(Bounding):
    """Column and row generation with a restricted master, usually a linear program.

    Parameters
    ----------
    branch_early
        Below the root, stop once the gap from bound to master is at most this share of the gap from master to
        incumbent.  Such a node is branched on anyway, so its last rounds decide nothing.  0: never.  A node with an
        integral master solution, or with separations, is solved to the end.

    Examples
    --------
    >>> solve(problem, method=Method(bounding=ColumnGeneration(branch_early=0.1))).objective
    453.0
    """

    def __init__(self, *, branch_early: float = 0.0) -> None:
        if not 0.0 <= branch_early < math.inf:
            raise InputError(f"branch_early: expected a share of 0 or more, not {branch_early}")
        self.branch_early = branch_early

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        return column_generation(node, parts, self.branch_early)


def column_generation(node: NodeState, parts: Parts, branch_early: float = 0.0) -> Bounded:
    """Solve a node's relaxation by column and row generation.

    Stabilization may start from ``node.duals`` (see :meth:`LinkingRows.signed`).  ``parts.found`` is called with each
    solution of phase 2 that may be feasible or be rounded.  For ``branch_early`` see :class:`ColumnGeneration`.
    """
    master, run = parts.master, parts.run
    context = parts.context(node)
    stabilization = parts.stabilization.at(node.depth)
    stabilization.suit(master, run.budget)
    settings = parts.settings
    pricer = Pricer(master, parts.oracles, stabilization, settings.pricing_share, settings.pricing_order)
    rounds = Recorder(run, master, node.number, node.depth, proves=parts.settings.stop_early)
    # Infeasibility may depend on rows that are not separated yet; the master proves it once they are added.
    known = None if node.proved is None or math.isinf(node.proved) else (node.proved, node.duals)
    progress = NodeProgress(master.sense, known)
    left = parts.settings.rounds
    latest: list[Key] = []  # cuts with which no round of pricing was completed
    while True:
        spent = run.budget.reason
        if spent is not None:
            return progress.result(Outcome.STOPPED, spent)

        rounds.begin()
        solved = master.solve(run.budget)
        rounds.lap(MASTER)
        if solved.status is not MasterStatus.OPTIMAL:
            ended = _handle_no_optimum(node, solved, progress, parts)
            if ended is None:
                continue
            return ended
        if progress.update_master(solved):
            stabilization.reset(_initial_centre(node, master, solved.phase))
            if node.proved is not None:
                stabilization.forgo_centre()
        if left is not None:
            if left == 0:
                return progress.result(Outcome.STOPPED)
            left -= 1
        context = _context_in_phase(context, solved, parts)

        priced = pricer.price(solved, context, progress.bound)
        progress.add_round(priced)
        # An earlier bound may include rows that the master does not have yet.
        bound = progress.own if parts.separation else progress.bound
        exchanging = solved.exchanging
        if not exchanging:
            check_weak_duality(master, bound, solved, parts.oracles, context.scale)
        rounds.lap(PRICING)

        rows = () if exchanging else _separate(node, solved, priced, progress, parts)
        rounds.lap(SEPARATION)
        if solved.phase == 2 and not rows and (not parts.separation or not priced.num_columns):
            parts.found(solved)

        outcome = _decide(node, solved, priced, rows, progress, context, parts)
        # before columns are added to the master
        values = master.solution(solved) if parts.settings.keep_values and solved.phase == 2 else None
        unfinished = False
        if exchanging:
            outcome = _continue_without_exchanges(outcome, solved, progress, context, parts)
        elif outcome is None and _can_branch_early(node, solved, progress, parts, branch_early):
            outcome, unfinished = Outcome.SOLVED, True
        elif any(result.costly for result in priced.results) and _release_cuts(latest, progress, parts):
            outcome, rows = None, _limit_cuts(rows, 0.0)  # found with the cuts that were released
        latest = [*([] if priced.exact else latest), *(row.key for row in rows)]
        added = _add(master, priced, rows) if outcome is None else 0
        rounds.lap(MASTER)
        reason = rounds.write(
            solved.phase,
            solved.objective,
            progress.bound,
            new_columns=added,
            misprices=priced.misprices,
            duals=_optimal_duals(solved, priced, stabilization) if parts.settings.keep_duals else None,
            values=values,
        )
        if outcome is not None or reason is not None:
            ended = _finish(outcome, reason, priced, progress, context, parts)
            return dataclasses.replace(ended, unfinished=True) if unfinished else ended
        stale, nodes = parts.settings.clean_up_after, master.node
        if stale is not None and nodes is not None and progress.has_progressed(context.scale):
            with run.stage("master"):
                nodes.remove_stale(stale)
        parts.between(node, solved)


def _handle_no_optimum(node: NodeState, solved: MasterSolution, progress: NodeProgress, parts: Parts) -> Bounded | None:
    """Return the result of a node whose master has no optimum, or None to try another round."""
    if solved.status is MasterStatus.UNBOUNDED:
        if parts.master.node is not None and parts.master.node.end_exchanges():
            return None
        bounded = _add_bounding_rows(node, parts)
        if bounded:
            return None
        if bounded is None:
            return _finish_unbounded(progress, parts)
    return _finish_unsolved(solved, progress, parts)


def _continue_without_exchanges(
    outcome: Outcome | None, solved: MasterSolution, progress: NodeProgress, context: PricingContext, parts: Parts
) -> Outcome | None:
    """End exchanges instead of the node, so that the rounds continue without them."""
    if not _must_end_exchanges(outcome, solved, progress, context):
        return outcome
    assert parts.master.node is not None  # it has exchanges
    parts.master.node.end_exchanges()
    progress.keep_bound()
    return None


# --- before pricing --------------------------------------------------------------------------------------------------


def _add_bounding_rows(node: NodeState, parts: Parts) -> bool | None:
    """Add separated rows that bound an unbounded master.  Return whether there are any, None if unknown.

    It is unknown if time ran out or there is no solution to separate.  The points move farther and farther out, until
    they violate rows with large sides too.
    """
    if not parts.separation:
        return False
    if parts.master.rows is None:
        return None
    for point in parts.master.rows.far_points(parts.run.budget):
        if point is None or parts.run.expired:  # a separation that was cut off may miss rows
            return None
        if _add_violated(node, point, parts):
            return True
    return None if parts.run.expired else False


def _add_violated(node: NodeState, far: MasterSolution, parts: Parts) -> bool:
    """Add the rows that a point far out violates.  Return whether there are any."""
    master = parts.master
    solution, context = master.solution(far), separation_context(parts, node, far, master.sense.ideal)
    # So far out, rounding errors may violate rows of the master.
    found = [row for each in parts.separation for row in violated_rows(each, solution, context)]
    violated = [row for row in found if row.key not in (master.rows or ())]
    if violated:
        master.add((), violated)
    return bool(violated)


def _finish_unbounded(progress: NodeProgress, parts: Parts) -> Bounded:
    """Return the result of a node that is unbounded unless rows that were not separated bound it."""
    reason = parts.run.budget.reason
    outcome = Outcome.UNPROVED if reason is None else Outcome.STOPPED
    weakness = "its master is unbounded without rows that could not be separated"
    return Bounded(outcome, progress.node_bound, None, reason, weakness=weakness, proved=True)


def _finish_unsolved(solved: MasterSolution, progress: NodeProgress, parts: Parts) -> Bounded:
    """Return the result of a node whose restricted master has no optimum."""
    bound = progress.node_bound
    if solved.status is MasterStatus.LIMIT:
        if solved.values is not None:  # not optimal, but possibly feasible
            parts.found(solved)
        return Bounded(Outcome.STOPPED, bound, None, parts.run.budget.reason or Termination.TIME_LIMIT, proved=True)
    if solved.status is MasterStatus.UNBOUNDED:
        return Bounded(Outcome.UNBOUNDED, bound, proved=True)
    if parts.oracles and solved.phase == 2:
        raise FormulationError(
            "the restricted master is infeasible before any column is priced: mark artificial variables in the "
            "template with colgen.artificial(...), so that its rows are satisfiable without columns"
        )
    return Bounded(Outcome.INFEASIBLE, bound, proved=True)


def _initial_centre(node: NodeState, master: RestrictedMaster, phase: int) -> Floats | None:
    """Return the initial stability centre: dual values of the real objective, which phase 1 cannot use."""
    if node.duals is None or phase == 1 or master.rows is None:
        return None
    duals = master.rows.signed(node.duals)
    return duals.values if isinstance(duals, DualVector) else None


def _context_in_phase(context: PricingContext, solved: MasterSolution, parts: Parts) -> PricingContext:
    """Return the oracles' context in this phase and scale, the same object if nothing changed."""
    master, settings, phase = parts.master, parts.settings, solved.phase
    present, scale = master.precision, 1.0  # phase 1 counts violations, and rows are scaled
    if phase == 2:
        # If the optimum is zero its scale is unknown: use the rounding error instead.
        of_duals = present.rounding if present.rounding > present.cost_rounding else 0.0
        least = max(of_duals / TOLERANCES.pruning, present.cost_rounding / TOLERANCES.optimality)
        scale = settings.scale or present.scale or least
        # Objectives differ by the size of their terms: columns of large costs may be used by small fractions.
        parts.run.scale = settings.scale or min(scale, max(solved.terms, least))
    weight, tolerance = (1.0 if phase == 2 else 0.0), settings.tolerance * min(scale, present.finest)
    scale = max(scale, present.rounding / TOLERANCES.diagnostic)  # no smaller difference is reliable
    if (context.cost_weight, context.scale, context.tolerance) == (weight, scale, tolerance) and context.find:
        return context
    return context.replace(cost_weight=weight, price=master.price, scale=scale, tolerance=tolerance, find=master.find)


# --- after pricing ---------------------------------------------------------------------------------------------------


def _separate(
    node: NodeState, solved: MasterSolution, priced: PricedRound, progress: NodeProgress, parts: Parts
) -> Sequence[Row]:
    """Return the rows that the solution violates, once no column improves."""
    if not parts.separation or solved.phase == 1 or priced.num_columns:
        return ()
    if parts.settings.integral_only and not is_integral(parts.master, solved):
        return ()
    return separate(parts, parts.master.solution(solved), separation_context(parts, node, solved, progress.node_bound))


def _decide(
    node: NodeState,
    solved: MasterSolution,
    priced: PricedRound,
    rows: Sequence[Row],
    progress: NodeProgress,
    context: PricingContext,
    parts: Parts,
) -> Outcome | None:
    """Return how the round ends column generation; None to continue."""
    run, settings, bound = parts.run, parts.settings, progress.bound
    if solved.phase == 1 and _proves_infeasible(bound, parts.master):
        # At the root only once no column improves: until then, the proof may rest on a multiplicity that is too small.
        root = node.number == node.depth == 0
        if not (root and priced.num_columns):
            return Outcome.INFEASIBLE
    if solved.phase == 2 and settings.stop_early and run.prunes(bound):
        return Outcome.PRUNED
    if solved.phase == 2 and settings.round_early and not parts.separation and _rounding_decides(run, bound, solved):
        return Outcome.SOLVED
    if priced.num_columns or rows:
        return None
    if priced.exact and _refine_scale(solved, priced, progress, context, parts):
        return None
    return Outcome.SOLVED if priced.exact and solved.phase == 2 else Outcome.UNPROVED


def _refine_scale(
    solved: MasterSolution, priced: PricedRound, progress: NodeProgress, context: PricingContext, parts: Parts
) -> bool:
    """Refine the scale if the tolerance hides more than the optimality gap allows.  Return whether to continue.

    The tolerance is relative to typical costs of feasible solutions.  Many columns with much smaller costs may add up
    to more.
    """
    master, sense = parts.master, progress.sense
    if solved.exchanging or any(context.improves(stated_bound(result)) for result in priced.results):
        return False  # an oracle whose bound no column attains finds nothing at any scale
    own = solved.objective - (master.precision.offset if solved.phase == 2 else 0.0)
    gap = TOLERANCES.optimality * size(
        parts.run.scale if solved.phase == 2 else context.scale, own, COMMON * solved.objective
    )
    if not sense.is_better(progress.bound, solved.objective, gap):
        return False
    return master.rows is not None and master.rows.refine(solved.duals, parts.oracles, priced.results)


def _release_cuts(latest: Sequence[Key], progress: NodeProgress, parts: Parts) -> bool:
    """Release the cuts that made pricing too expensive.  Return whether there was any.

    These are the latest, or the newer half of those with dual values, or all.  The run adds fewer cuts of their kind
    per round, after some releases none.  The bounds that were proved with the others stay.
    """
    rows, run = parts.master.rows, parts.run
    if rows is None:
        return False
    assert progress.solved is not None
    duals, cuts = progress.solved.duals, [row.key for row in rows.joined if _changes_pricing(row.key)]
    active = [key for key in cuts if duals.get(key)] if isinstance(duals, Duals) else []
    for keys in ([key for key in latest if _changes_pricing(key)], active[len(active) // 2 :], cuts):
        released = rows.release(keys)
        if released:
            run.cut_share *= _FEWER if run.cut_share > _FEWEST else 0.0
            run.notes.append(f"{plural(released, 'cut')} dropped: pricing with them took too long.")
            progress.begin_without()
            return True
    return False


def _can_branch_early(
    node: NodeState, solved: MasterSolution, progress: NodeProgress, parts: Parts, share: float
) -> bool:
    """Return whether the node will be branched on anyway and further rounds would hardly change its bound.

    The relaxation's value lies between the bound and the master's objective.  If the latter does not prune, neither
    does the relaxation.
    """
    run, settings = parts.run, parts.settings
    if not share or not node.depth or solved.phase == 1 or parts.separation:
        return False
    if not (settings.stop_early and settings.round_early) or not math.isfinite(run.objective):
        return False
    bound_gap = progress.sense.sign * (solved.objective - progress.bound)
    incumbent_gap = progress.sense.sign * (run.objective - solved.objective)
    if not bound_gap <= share * incumbent_gap or run.prunes(solved.objective):
        return False
    return not is_integral(parts.master, solved)


def _must_end_exchanges(
    outcome: Outcome | None, solved: MasterSolution, progress: NodeProgress, context: PricingContext
) -> bool:
    """Return whether exchanges must end: nothing else is left to do, or a bound contradicts them.

    With exchanges the master's objective is no primal bound on the relaxation.  A bound that prunes the node does not
    depend on exchanges and stays valid.
    """
    if outcome is Outcome.PRUNED:
        return False
    tolerance = TOLERANCES.diagnostic * size(context.scale, solved.objective)
    return outcome is not None or progress.sense.is_better(solved.objective, progress.bound, tolerance)


def _proves_infeasible(bound: float, master: RestrictedMaster) -> bool:
    """Return whether a phase 1 bound proves that the artificial variables cannot all be zero."""
    return master.sense.sign * bound > master.precision.feasibility


def _rounding_decides(run: Run, bound: float, solved: MasterSolution) -> bool:
    """Return whether the node's rounded bound is final: the master's objective rounds to the same value."""
    if run.step is None or math.isinf(bound):
        return False
    return not run.sense.is_better(run.round_bound(bound), run.round_bound(solved.objective))


def _add(master: RestrictedMaster, priced: PricedRound, rows: Sequence[Row]) -> int:
    """Add columns and rows.  Return the number of new columns."""
    before = _num_rows(master)
    added = master.add(priced.new.columns, (), priced.new.origins) if priced.new else 0
    if rows:
        master.add((), rows)
        if _num_rows(master) == before:
            raise SeparationError(
                f"the separated rows {[row.key for row in rows][:3]} are in the master already, but the solution "
                "violates them: two different rows share a key"
            )
    return added


def _num_rows(master: RestrictedMaster) -> int:
    """Return the number of rows, or of those that were added and not released."""
    return master.num_rows if master.rows is None else len(master.rows.joined)


def _optimal_duals(solved: MasterSolution, priced: PricedRound, stabilization: Stabilization) -> DualPoint:
    """Return optimal dual values of the master, preferably those used in pricing."""
    return priced.duals if stabilization.complementary else solved.duals


def _finish(
    outcome: Outcome | None,
    reason: Termination | None,
    priced: PricedRound,
    progress: NodeProgress,
    context: PricingContext,
    parts: Parts,
) -> Bounded:
    """Return the result of a node after its last round."""
    assert progress.solved is not None
    if outcome is Outcome.INFEASIBLE:
        probe_infeasibility(parts.master, parts.oracles, progress.solved, context)
        return Bounded(outcome, progress.sense.hopeless, progress.solved, proved=True, ray=progress.duals)
    if outcome is Outcome.UNPROVED:  # an oracle that was cut off may still be exact
        reason = reason or parts.run.budget.reason or priced.cut_off(context)
    if outcome is None or (outcome is Outcome.UNPROVED and reason is not None):
        return progress.result(Outcome.STOPPED, reason)
    return progress.result(outcome, weakness=priced.weakness(parts.oracles, context))
