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
from colgen.core.columns import Row
from colgen.core.duals import DualPoint, DualVector
from colgen.core.errors import FormulationError, InputError, SeparationError
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import COMMON, TOLERANCES, size
from colgen.cuts.separation import Separation, SeparationContext, violated_rows
from colgen.master.dual_bound import stated
from colgen.master.protocol import Floats, MasterSolution, MasterStatus, RestrictedMaster, is_integral
from colgen.pricing.oracles import PricingContext, check_priced
from colgen.stabilization import Stabilization


def separation_context(parts: Parts, node: NodeState, solved: MasterSolution, bound: float) -> SeparationContext:
    """What separations are told of a restricted master's solution at a node."""
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
    )


def separate(parts: Parts, solution: Solution, context: SeparationContext) -> list[Row]:
    """Rows that a restricted master's solution violates and that are to be added."""
    found: list[Row] = []
    for separator in parts.separation:
        if context.whole or separator.applies(context.depth):
            found += _taken(separator, violated_rows(separator, solution, context), parts, solution)
    return found


def _taken(separator: Separation, rows: Sequence[Row], parts: Parts, solution: Solution) -> list[Row]:
    """Of what a separation has returned: what is violated by more than rounding, and no more than its limit."""
    check_priced(parts.oracles, rows)
    known = parts.run.known if separator.exhaustive else ()
    taken = check_rows(separator, rows, solution, known, parts.master.rows or ())
    if separator.limit is not None and len(taken) > separator.limit:
        worst = sorted(range(len(taken)), key=lambda k: -taken[k][1])[: max(separator.limit, 1)]
        taken = [taken[k] for k in sorted(worst)]
    return [row for row, _ in taken]


@dataclass
class Standing:
    """What the rounds at a node have proved so far in the phase that they are in.

    Attributes
    ----------
    solved
        The last restricted master.
    bound, duals
        The best dual bound, and where it was proved; another phase has another objective, so another dual function.
    cleaned_at
        The objective at which columns were last deleted.
    own
        The best dual bound of these rounds alone: with what was known before, ``bound``.
    known
        A bound that was proved before, and where; it is one of phase 2.
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

    def moves_on(self, solved: MasterSolution) -> bool:
        """Take in a restricted master; whether another phase begins with it."""
        self.solved = solved
        if solved.phase == self.phase:
            return False
        self.phase, self.bound, self.own, self.duals = solved.phase, self.sense.ideal, self.sense.ideal, None
        if solved.phase == 2 and self.known is not None:
            self.bound, self.duals = self.known
        self.cleaned_at = self.sense.hopeless
        return True

    def learn(self, priced: PricedRound) -> None:
        """Take in a round of pricing."""
        if priced.real is not None:
            self._learn_real(*priced.real)
        if self.sense.is_better(self.own, priced.bound):
            self.own = priced.bound
        if self.duals is None or self.sense.is_better(self.bound, priced.bound):
            self.bound, self.duals = priced.bound, priced.duals

    def _learn_real(self, bound: float, duals: DualPoint) -> None:
        """Keep a bound of phase 2 that was proved in phase 1.

        That there is no answer at all, rows may say that are still to come: the master proves it once it has them.
        """
        if math.isfinite(bound) and (self.known is None or self.sense.is_better(self.known[0], bound)):
            self.known = bound, duals

    def keep(self) -> None:
        """Let what is proved hold on, whatever phase comes next."""
        if self.phase == 2:
            self.known = self.bound, self.duals

    def progresses(self, scale: float) -> bool:
        """Whether the objective has moved since columns were last deleted, and may be again.

        Without progress in between, columns could be deleted and generated again for ever.
        """
        assert self.solved is not None
        objective = self.solved.objective
        if not self.sense.is_better(objective, self.cleaned_at, TOLERANCES.pruning * size(scale, objective)):
            return False
        self.cleaned_at = objective
        return True

    @property
    def node_bound(self) -> float:
        """On the node's answers: phase 1 proves nothing about those."""
        return self.bound if self.phase == 2 else self.sense.ideal

    def bounded(self, outcome: Outcome, termination: Termination | None = None, weakness: str = "") -> Bounded:
        """What is to be said of the node."""
        return Bounded(outcome, self.node_bound, self.solved, termination, self.duals, weakness, proved=True)


class ColumnGeneration(Bounding):
    """Column and row generation over the restricted master, a linear program as a rule.

    Parameters
    ----------
    branch_early
        Below the root, end as soon as what is left between the bound and the restricted master is no more than this
        share of what the master lacks to the incumbent: such a node is branched on whatever else its columns are, so
        that the last rounds decide nothing.  0: never.  A node whose master looks like an answer, or with rows to
        separate, is solved to its end.
    """

    def __init__(self, *, branch_early: float = 0.0) -> None:
        if not 0.0 <= branch_early < math.inf:
            raise InputError(f"branch_early: expected a share of 0 or more, not {branch_early}")
        self.branch_early = branch_early

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        return column_generation(node, parts, self.branch_early)


def column_generation(node: NodeState, parts: Parts, branch_early: float = 0.0) -> Bounded:
    """Solve a node's relaxation by column and row generation.

    ``node.duals``, of another node or guessed, are where stabilization may start (see
    :meth:`LinkingRows.signed`); ``parts.found`` is called with each restricted master of phase 2 that may hold an
    answer, or be rounded to one.  ``branch_early`` is that of :class:`ColumnGeneration`.
    """
    master, run = parts.master, parts.run
    context = parts.context(node)
    stabilization = parts.stabilization.at(node.depth)
    stabilization.suit(master, run.budget)
    pricer = Pricer(master, parts.oracles, stabilization, parts.settings.pricing_share)
    rounds = Recorder(run, master, node.number, node.depth, proves=parts.settings.stop_early)
    # That there is no answer at all, rows may say that are still to come: the master proves it once it has them.
    known = None if node.proved is None or math.isinf(node.proved) else (node.proved, node.duals)
    standing = Standing(master.sense, known)
    left = parts.settings.rounds
    while True:
        spent = run.budget.reason
        if spent is not None:
            return standing.bounded(Outcome.STOPPED, spent)

        rounds.begin()
        solved = master.solve(run.budget)
        rounds.lap(MASTER)
        if solved.status is not MasterStatus.OPTIMAL:
            ended = _without_optimum(node, solved, standing, parts)
            if ended is None:
                continue
            return ended
        if standing.moves_on(solved):
            stabilization.reset(_centre(node, master, solved.phase))
            if node.proved is not None:
                stabilization.forgo_centre()
        if left is not None:
            if left == 0:
                return standing.bounded(Outcome.STOPPED)
            left -= 1
        context = _in_phase(context, solved, parts)

        priced = pricer.price(solved, context, standing.bound)
        standing.learn(priced)
        # What was proved before may know of rows that are yet to be separated.
        bound = standing.own if parts.separation else standing.bound
        exchanging = solved.exchanging
        if not exchanging:
            check_weak_duality(master, bound, solved, parts.oracles, context.scale)
        rounds.lap(PRICING)

        rows = () if exchanging else _separate(node, solved, priced, standing, parts)
        rounds.lap(SEPARATION)
        if solved.phase == 2 and not rows and (not parts.separation or not priced.num_columns):
            parts.found(solved)

        outcome = _decide(node, solved, priced, rows, standing, context, parts)
        # before columns are added to it
        values = master.solution(solved) if parts.settings.keep_values and solved.phase == 2 else None
        unfinished = False
        if exchanging:
            outcome = _after_exchanges(outcome, solved, standing, context, parts)
        elif outcome is None and _decides_nothing(node, solved, standing, parts, branch_early):
            outcome, unfinished = Outcome.SOLVED, True
        added = _add(master, priced, rows) if outcome is None else 0
        reason = rounds.write(
            solved.phase,
            solved.objective,
            standing.bound,
            new_columns=added,
            misprices=priced.misprices,
            duals=_kept(solved, priced, stabilization) if parts.settings.keep_duals else None,
            values=values,
        )
        if outcome is not None or reason is not None:
            ended = _ended(outcome, reason, priced, standing, context, parts)
            return dataclasses.replace(ended, unfinished=True) if unfinished else ended
        stale, nodes = parts.settings.clean_up_after, master.node
        if stale is not None and nodes is not None and standing.progresses(context.scale):
            nodes.remove_stale(stale)


def _without_optimum(node: NodeState, solved: MasterSolution, standing: Standing, parts: Parts) -> Bounded | None:
    """Return what ends a node whose master has no optimum; None if another round may have one."""
    if solved.status is MasterStatus.UNBOUNDED:
        if parts.master.node is not None and parts.master.node.end_exchanges():
            return None
        bounded = _bounded_by_rows(node, parts)
        if bounded:
            return None
        if bounded is None:
            return _unbounded_by_rows(standing, parts)
    return _unsolved(solved, standing, parts)


def _after_exchanges(
    outcome: Outcome | None, solved: MasterSolution, standing: Standing, context: PricingContext, parts: Parts
) -> Outcome | None:
    """End the exchanges if the round would end the node with them; the rounds then go on without."""
    if not _ends_exchanges(outcome, solved, standing, context):
        return outcome
    assert parts.master.node is not None  # it has exchanges
    parts.master.node.end_exchanges()
    standing.keep()
    return None


# --- before pricing --------------------------------------------------------------------------------------------------


def _bounded_by_rows(node: NodeState, parts: Parts) -> bool | None:
    """Whether rows that would be separated bound a master that is unbounded without them; they are added.

    None if that is not known: there was no time to ask, or no solution to ask about.  Separations are asked about
    points ever farther out, for a row of a large side is violated by none that is near.
    """
    if not parts.separation:
        return False
    if parts.master.rows is None:
        return None
    for point in parts.master.rows.far_points(parts.run.budget):
        if point is None or parts.run.expired:  # a separation that was cut off may have overlooked some
            return None
        if _add_violated(node, point, parts):
            return True
    return None if parts.run.expired else False


def _add_violated(node: NodeState, far: MasterSolution, parts: Parts) -> bool:
    """Whether separations object to a point far out; their rows are added."""
    master = parts.master
    solution, context = master.solution(far), separation_context(parts, node, far, master.sense.ideal)
    # At such distances rounding may violate rows that the master has.
    found = [row for each in parts.separation for row in violated_rows(each, solution, context)]
    violated = [row for row in found if row.key not in (master.rows or ())]
    if violated:
        master.add((), violated)
    return bool(violated)


def _unbounded_by_rows(standing: Standing, parts: Parts) -> Bounded:
    """What becomes of a node that is unbounded unless rows that were not separated bound it."""
    reason = parts.run.budget.reason
    outcome = Outcome.UNPROVED if reason is None else Outcome.STOPPED
    weakness = "its master is unbounded without the rows that would be separated, and these could not be asked for"
    return Bounded(outcome, standing.node_bound, None, reason, weakness=weakness, proved=True)


def _unsolved(solved: MasterSolution, standing: Standing, parts: Parts) -> Bounded:
    """What becomes of a node whose restricted master has no optimum."""
    bound = standing.node_bound
    if solved.status is MasterStatus.LIMIT:
        if solved.values is not None:  # not optimal, and perhaps an answer
            parts.found(solved)
        return Bounded(Outcome.STOPPED, bound, None, parts.run.budget.reason or Termination.TIME_LIMIT, proved=True)
    if solved.status is MasterStatus.UNBOUNDED:
        return Bounded(Outcome.UNBOUNDED, bound, proved=True)
    if parts.oracles and solved.phase == 2:
        raise FormulationError(
            "the restricted master is infeasible before any column can be priced: mark artificial variables in the "
            "template with colgen.artificial(...) so that its rows can be satisfied without columns"
        )
    return Bounded(Outcome.INFEASIBLE, bound, proved=True)


def _centre(node: NodeState, master: RestrictedMaster, phase: int) -> Floats | None:
    """Where stabilization may start: dual values of the real objective, which mean nothing in phase 1."""
    if node.duals is None or phase == 1 or master.rows is None:
        return None
    duals = master.rows.signed(node.duals)
    return duals.values if isinstance(duals, DualVector) else None


def _in_phase(context: PricingContext, solved: MasterSolution, parts: Parts) -> PricingContext:
    """What oracles are told in this phase, at the present scale of the objective; the same object while it is."""
    master, settings, phase = parts.master, parts.settings, solved.phase
    present, scale = master.precision, 1.0  # in phase 1 an objective counts violations, and rows are scaled
    if phase == 2:
        # If the optimum is zero its scale is unknown: use the rounding error instead.
        of_duals = present.rounding if present.rounding > present.cost_rounding else 0.0
        least = max(of_duals / TOLERANCES.pruning, present.cost_rounding / TOLERANCES.optimality)
        scale = settings.scale or present.scale or least
        # Objectives differ by the size of what they sum up: columns of large costs may be used by small fractions.
        parts.run.scale = settings.scale or min(scale, max(solved.terms, least))
    weight, tolerance = (1.0 if phase == 2 else 0.0), settings.tolerance * min(scale, present.finest)
    scale = max(scale, present.rounding / TOLERANCES.diagnostic)  # numbers cannot be compared any nearer
    if (context.cost_weight, context.scale, context.tolerance) == (weight, scale, tolerance) and context.find:
        return context
    return dataclasses.replace(
        context,
        cost_weight=weight,
        price=master.price,
        scale=scale,
        tolerance=tolerance,
        find=master.find,
    )


# --- after pricing ---------------------------------------------------------------------------------------------------


def _separate(
    node: NodeState, solved: MasterSolution, priced: PricedRound, standing: Standing, parts: Parts
) -> Sequence[Row]:
    """Rows that the solution violates; looked for once no column improves."""
    if not parts.separation or solved.phase == 1 or priced.num_columns:
        return ()
    return separate(parts, parts.master.solution(solved), separation_context(parts, node, solved, standing.node_bound))


def _decide(
    node: NodeState,
    solved: MasterSolution,
    priced: PricedRound,
    rows: Sequence[Row],
    standing: Standing,
    context: PricingContext,
    parts: Parts,
) -> Outcome | None:
    """How a round ends column generation; None if it goes on."""
    run, settings, bound = parts.run, parts.settings, standing.bound
    if solved.phase == 1 and _exceeds(bound, parts.master):
        # At the root only once no column improves: until then a multiplicity that is too small may be all that says so.
        root = node.number == node.depth == 0
        if not (root and priced.num_columns):
            return Outcome.INFEASIBLE
    if solved.phase == 2 and settings.stop_early and run.prunes(bound):
        return Outcome.PRUNED
    if solved.phase == 2 and settings.round_early and not parts.separation and _rounding_decides(run, bound, solved):
        return Outcome.SOLVED
    if priced.num_columns or rows:
        return None
    if priced.exact and _prices_finer(solved, priced, standing, context, parts):
        return None
    return Outcome.SOLVED if priced.exact and solved.phase == 2 else Outcome.UNPROVED


def _prices_finer(
    solved: MasterSolution, priced: PricedRound, standing: Standing, context: PricingContext, parts: Parts
) -> bool:
    """Whether rounds continue at a smaller scale: what the tolerance hides is more than the gap may be in all.

    The tolerance is relative to the costs that answers are made of, and of columns whose costs are small beside those
    there may be many.
    """
    master, sense = parts.master, standing.sense
    if solved.exchanging or any(context.improves(stated(result)) for result in priced.results):
        return False  # an oracle whose bound none of its columns comes up to finds nothing at any scale
    own = solved.objective - (master.precision.offset if solved.phase == 2 else 0.0)
    gap = TOLERANCES.optimality * size(
        parts.run.scale if solved.phase == 2 else context.scale, own, COMMON * solved.objective
    )
    if not sense.is_better(standing.bound, solved.objective, gap):
        return False
    return master.rows is not None and master.rows.refine(solved.duals, parts.oracles, priced.results)


def _decides_nothing(node: NodeState, solved: MasterSolution, standing: Standing, parts: Parts, share: float) -> bool:
    """Whether a node is going to be branched on whatever further rounds find, and they would change its bound little.

    Its relaxation lies between the bound and the master's objective: where that does not prune, the relaxation does
    not.
    """
    run, settings = parts.run, parts.settings
    if not share or not node.depth or solved.phase == 1 or parts.separation:
        return False
    if not (settings.stop_early and settings.round_early) or not math.isfinite(run.objective):
        return False
    left = standing.sense.sign * (solved.objective - standing.bound)
    lacking = standing.sense.sign * (run.objective - solved.objective)
    if not left <= share * lacking or run.prunes(solved.objective):
        return False
    return not is_integral(parts.master, solved)


def _ends_exchanges(
    outcome: Outcome | None, solved: MasterSolution, standing: Standing, context: PricingContext
) -> bool:
    """Whether a master that uses exchanges has to do without: nothing else is left to do, or a bound refutes them.

    Its objective is then no bound on the relaxation's from the other side, so that nothing is solved by it; a bound
    that prunes the node does not rest on exchanges and stands.
    """
    if outcome is Outcome.PRUNED:
        return False
    tolerance = TOLERANCES.diagnostic * size(context.scale, solved.objective)
    return outcome is not None or standing.sense.is_better(solved.objective, standing.bound, tolerance)


def _exceeds(bound: float, master: RestrictedMaster) -> bool:
    """Whether a phase 1 bound proves that the artificial variables cannot all be zero."""
    return master.sense.sign * bound > master.precision.feasibility


def _rounding_decides(run: Run, bound: float, solved: MasterSolution) -> bool:
    """Whether the node's rounded bound cannot change any more: the master's objective rounds to the same value."""
    if run.step is None or math.isinf(bound):
        return False
    return not run.sense.is_better(run.round_bound(bound), run.round_bound(solved.objective))


def _add(master: RestrictedMaster, priced: PricedRound, rows: Sequence[Row]) -> int:
    """Add what was found; returns how many columns were new."""
    before = master.num_rows
    added = master.add(priced.new.columns, (), priced.new.origins) if priced.new else 0
    if rows:
        master.add((), rows)
        if master.num_rows == before:
            raise SeparationError(
                f"the separated rows {[row.key for row in rows][:3]} are in the master already, yet the solution "
                "violates them: two different rows share a key"
            )
    return added


def _kept(solved: MasterSolution, priced: PricedRound, stabilization: Stabilization) -> DualPoint:
    """Optimal dual values of the round's master, those that it was priced at if they are, for its record."""
    return priced.duals if stabilization.complementary else solved.duals


def _ended(
    outcome: Outcome | None,
    reason: Termination | None,
    priced: PricedRound,
    standing: Standing,
    context: PricingContext,
    parts: Parts,
) -> Bounded:
    """What is to be said of a node after its last round."""
    assert standing.solved is not None
    if outcome is Outcome.INFEASIBLE:
        probe_infeasibility(parts.master, parts.oracles, standing.solved, context)
        return Bounded(outcome, standing.sense.hopeless, standing.solved, proved=True, ray=standing.duals)
    if outcome is Outcome.UNPROVED:  # an oracle that was cut off is not one that is not exact
        reason = reason or parts.run.budget.reason or priced.cut_off(context)
    if outcome is None or (outcome is Outcome.UNPROVED and reason is not None):
        return standing.bounded(Outcome.STOPPED, reason)
    return standing.bounded(outcome, weakness=priced.weakness(parts.oracles, context))
