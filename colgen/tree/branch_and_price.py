"""Branch and price: column and row generation as the relaxation of a branch-and-bound tree."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from colgen.bounds.bounding import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.bounds.column_generation import column_generation
from colgen.bounds.fixing import Reduction, ReductionContext
from colgen.bounds.proving import Proved, prove, record, told
from colgen.bounds.stabilization import NoStabilization
from colgen.core.batches import Columns
from colgen.core.budget import OutOfBudget
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import Duals
from colgen.core.errors import BranchingError, InfeasibleAnswerError, InvalidBoundError, SolverError
from colgen.core.pool import Pool
from colgen.core.result import Certificate, Termination
from colgen.core.solution import Solution
from colgen.core.warm_start import WarmStart
from colgen.master.program import SavedBasis
from colgen.master.protocol import MasterSolution, MasterStatus
from colgen.pricing.oracles import PricingContext
from colgen.proof.witness import NodeName, Point, Witness
from colgen.tree.answers import Answers
from colgen.tree.branching import BranchingRule
from colgen.tree.choice import Choice, Chosen, MostFractional, first_of
from colgen.tree.enumeration import Enumeration
from colgen.tree.heuristics import Heuristic, HeuristicContext, RestrictedMIP
from colgen.tree.node_checks import check_against_incumbent, check_children
from colgen.tree.pseudo_costs import PseudoCosts
from colgen.tree.search import Evaluation, Node, Relaxation
from colgen.tree.trying import Trying
from solvers.compiling import working_clock
from solvers.linear import lp as programs

_LEAF = {
    Outcome.PRUNED: "pruned",
    Outcome.INFEASIBLE: "infeasible",
}


_GRACE = 0.04
"""The share of its time limit that a run may take beyond it to find a first answer, or a first bound."""


_TRIAL = 0.1
"""The share of its time that the program over enumerated columns is given before heuristics have been tried."""


class _Start(NamedTuple):
    """What a node leaves to its children.

    Attributes
    ----------
    basis
        The master's.
    left
        Whatever the bounding wants to find again.
    moved
        By what the child differs, and the parent's objective: what pseudo-costs learn from; None if they have.
    """

    basis: SavedBasis | None
    left: Any
    moved: tuple[Hashable, int, float, float] | None = None


@dataclasses.dataclass(frozen=True)
class Search:
    """What the tree is searched with: branching rules, reductions, enumeration, heuristics, exact bounds.

    ``choice``: how it chooses among the candidates of a branching rule.
    ``witness``: who keeps what is proved of nodes, for a certificate.
    ``enumeration_closes``: whether it may close nodes; else it looks for answers, once on a way down the tree.
    ``relaxation_only``: the root's relaxation is wanted, to its exact optimum, and nothing else.
    """

    branching: Sequence[BranchingRule] = ()
    reductions: Sequence[Reduction] = ()
    enumeration: Enumeration | None = None
    heuristics: Sequence[Heuristic] = ()
    relaxation_only: bool = False
    sharpen: Callable[[float, Any, PricingContext], float] | None = None
    choice: Choice = dataclasses.field(default_factory=MostFractional)
    witness: Witness | None = None
    enumeration_closes: bool = True


class BranchAndPrice(Relaxation):
    """Evaluates nodes by column generation over one restricted master that is switched from node to node.

    Columns stay in the master from node to node: those that a node's decisions forbid are switched off there.
    """

    def __init__(self, parts: Parts, search: Search, bounding: Bounding, duals: Any = None) -> None:
        self._parts = parts
        self.search = search
        self.bounding = bounding
        self.master, self.pricing, self.separation = parts.master, parts.oracles, parts.separation
        self.run = parts.run
        self._duals = duals
        self._known: tuple[int, Any, float] | None = None
        """A node, and the dual values at which its bound was last proved."""
        self.root: Solution | None = None
        self.root_bound = parts.master.sense.ideal
        self.certificate: Certificate | None = None
        self._proved_by: Any = None
        self.answers = Answers(parts, looking=not search.relaxation_only, rounding=bool(search.heuristics))
        self._costs = PseudoCosts()
        self._barren: set[int] = set()  # nodes that enumeration has found to hold nothing better, and may not close
        parts.master.oracles = parts.oracles
        for separation in parts.separation:
            separation.suit(parts.master)
        for rule in search.branching:
            rule.suit(parts.master)

    @cached_property
    def parts(self) -> Parts:
        """What boundings work with."""
        return dataclasses.replace(
            self._parts, context=self._in_node, found=self.answers.look_at, take=self.answers.take
        )

    @cached_property
    def _parts_to_the_end(self) -> Parts:
        """The same for a relaxation that is wanted to its last bit, also where its rounded value decides."""
        return dataclasses.replace(self.parts, settings=dataclasses.replace(self.parts.settings, round_early=False))

    def start(self, warm: WarmStart, name: str) -> bool:
        """Take in what the problem knows before the first round; whether that is an answer and its proof.

        Everything is a guess: answers are checked, and one round of pricing at the dual values proves what they are
        worth.
        """
        master, run, root = self.master, self.run, NodeState(bound=self.master.sense.ideal)
        for answer in warm.answers:
            try:
                self.answers.take_with_columns(answer, f"{name}.warm_start")
            except InfeasibleAnswerError as error:
                if not warm.tentative:
                    raise
                run.notes.append(f"An answer to start from does not fit and was left out: {error}.")
        self._size_up()
        context = self._in_node(root) if master.answers_late else self._in_grace(self._in_node(root))
        if context is not None and (warm.duals is not None or not master.needs_duals):
            clock = working_clock()
            found = prove(master, self.pricing, warm.duals, context, self._parts.settings)
            for answer in found.answers:
                self.answers.take_with_columns(answer, "an oracle")
            record(run, master, found, (0, 0), clock, self._parts.settings)
            self.root_bound = found.bound
            self._duals, self._known = found.duals, (0, found.duals, found.bound)
            self._testify(0, found.duals, found.bound)
            self._certify(found.bound, found.duals)
            check_against_incumbent(self.run, self.pricing, Node(), found.bound)
            if self._closed(found.bound, found.duals):
                self.root = run.incumbent
                run.prove(found.bound)  # which the round has not, where the relaxation is what is wanted
                return True
            self._add_priced(found)
        columns = warm.columns if isinstance(warm.columns, Columns) else list(warm.columns)  # a batch stays one
        master.add(columns, list(warm.rows))
        if warm.basis is not None:
            master.start_at(warm.basis)
        return False

    def _size_up(self) -> None:
        """Learn from the columns what differences are relative to, before a linear program says so, or where none does.

        Nothing would be near an optimum of zero.
        """
        master, run = self.master, self.run
        if not run.scale and master.holds_columns:
            with master.real_costs():
                run.scale = master.scale

    def _in_grace(self, context: PricingContext) -> PricingContext | None:
        """The same where a warm start has spent all the time: its guess is priced once; None if that is too late."""
        if not self.run.expired:
            return context
        late = self.run.budget.late(_GRACE)
        return None if late.expired else dataclasses.replace(context, deadline=late.deadline, budget=late)

    def evaluate(self, node: Node) -> Evaluation:
        self._size_up()
        self.master.apply(node.decisions)
        if node.start is not None and node.start.basis is not None:
            self.master.restore(node.start.basis)
        relaxed = self._relax(node)
        check_against_incumbent(self.run, self.pricing, node, relaxed.bound)
        self._learn(node, relaxed)
        if node.number == 0:
            self._keep_root(relaxed)
        if relaxed.outcome is Outcome.SOLVED and relaxed.solved is not None and not self.search.relaxation_only:
            self._search(node, self.master.solution(relaxed.solved), relaxed.bound, quick=True)
            if self.run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned")
            early = self._stopped_early(relaxed, relaxed.solved)
            if early and (self.search.reductions or self.search.enumeration is not None):
                # They feed on the last bit of the bound, which a rounded value did not need.
                relaxed = self._relax(node, round_early=False)
                check_against_incumbent(self.run, self.pricing, node, relaxed.bound)
                if node.number == 0:
                    self._keep_root(relaxed)
            sharp = self._sharpened(node, relaxed)
            if self.run.prunes(sharp):
                return Evaluation(sharp, "pruned")
            reduced, relaxed = self._reduce(node, relaxed)
            fixed = reduced.decisions[len(node.decisions) :]
            return dataclasses.replace(self._judge(reduced, relaxed), fixed=fixed)
        near = relaxed.solved is None and relaxed.solution is not None
        if relaxed.outcome is Outcome.SOLVED and near and not self.search.relaxation_only:
            # Marginals need dual values and the bound that the oracles prove there, and no linear program.
            reduced, relaxed = self._reduce(node, relaxed)
            fixed = reduced.decisions[len(node.decisions) :]
            return dataclasses.replace(self._judge(reduced, relaxed), fixed=fixed)
        return self._judge(node, relaxed)

    def _judge(self, node: Node, relaxed: Bounded) -> Evaluation:
        """What becomes of a node whose relaxation has been treated."""
        if relaxed.outcome in _LEAF:
            return Evaluation(relaxed.bound, _LEAF[relaxed.outcome])
        if relaxed.outcome is Outcome.UNBOUNDED:
            return Evaluation(relaxed.bound, "unbounded", stop=Termination.UNBOUNDED)
        solved = relaxed.solved
        if solved is None and relaxed.solution is not None:
            return self._branch_near(node, relaxed, relaxed.solution)
        if solved is None or solved.phase == 1:
            stop = relaxed.termination
            missing = None if stop else self._unproved(node, relaxed)
            return Evaluation(relaxed.bound, "stopped", unresolved=missing, stop=stop)
        return self._branch(node, relaxed, solved)

    def _relax(self, node: Node, round_early: bool = True) -> Bounded:
        parts = self.parts if round_early else self._parts_to_the_end
        known = self._known
        state = NodeState(
            node.number,
            node.depth,
            node.decisions,
            node.bound,
            self._duals,
            node.start and node.start.left,
            known[2] if known is not None and known[0] == node.number and known[1] is self._duals else None,
        )
        bounded = self.bounding.bound(state, parts)
        if not bounded.proved:
            bounded = self._prove(state, bounded)
        if bounded.duals is not None:
            self._duals = bounded.duals  # the next relaxation is not far from this one
            self._known = (node.number, bounded.duals, bounded.bound)
        self._testify(node.number, bounded.duals, bounded.bound)
        self._testify(node.number, bounded.ray, self.master.sense.ideal, costs_count=False)
        return bounded

    def _testify(
        self, node: NodeName, duals: Any, bound: float, *, fixes: bool = False, costs_count: bool = True
    ) -> None:
        """Let it be written down what dual values prove of a node, if a certificate is wanted."""
        if self.search.witness is not None:
            self.search.witness.saw(node, Point(duals, bound, costs_count, fixes))

    def _add_priced(self, found: Proved) -> None:
        """Keep the columns that a round at guessed dual values has priced."""
        for origin, columns in enumerate(found.columns):
            if len(columns):
                self.run.columns_generated += self.master.add(columns, (), origin)

    def _prove(self, state: NodeState, bounded: Bounded) -> Bounded:
        """What the oracles prove at the dual values that a bounding ended with: that is believed, not its own word."""
        master, run, clock = self.master, self.run, working_clock()
        nothing = dataclasses.replace(bounded, bound=master.sense.ideal, proved=True)
        if bounded.outcome in (Outcome.INFEASIBLE, Outcome.UNBOUNDED):
            return dataclasses.replace(nothing, outcome=Outcome.UNPROVED)
        if (bounded.duals is None and master.needs_duals) or run.budget.interrupted:
            return nothing
        found = prove(master, self.pricing, bounded.duals, self._in_node(state), self.parts.settings)
        for answer in found.answers:
            self.answers.take_with_columns(answer, "an oracle")
        record(run, master, found, (state.number, state.depth), clock, self.parts.settings)
        self._add_priced(found)
        outcome = bounded.outcome
        if run.prunes(found.bound):
            outcome = Outcome.PRUNED
        elif outcome is Outcome.PRUNED:
            outcome = Outcome.UNPROVED
        solution = found.relaxed if bounded.solution is None else bounded.solution
        return dataclasses.replace(nothing, outcome=outcome, bound=found.bound, duals=found.duals, solution=solution)

    def _sharpened(self, node: Node, relaxed: Bounded) -> float:
        """A node's bound, where the tolerance of rounding is all that keeps the node open: as the problem proves it."""
        run, bound = self.run, relaxed.bound
        if self.search.sharpen is None or relaxed.duals is None or not run.grazes(bound):
            return bound
        try:
            sharp = self.search.sharpen(bound, relaxed.duals, self._told(node))
        except OutOfBudget:
            return bound
        if run.sense.is_better(run.sense.round_bound(bound, run.step, 0.0), sharp):
            raise InvalidBoundError(
                f"sharpen states {sharp:.10g} for node {node.number}, whose dual bound is {bound:.10g}: expected that "
                f"bound, or the next multiple of objective_step {run.step:g}"
            )
        check_against_incumbent(self.run, self.pricing, node, sharp)
        return run.sense.worst(sharp, bound)

    def _reduce(self, node: Node, relaxed: Bounded) -> tuple[Node, Bounded]:
        """Fix by reduced cost and solve again, until nothing worth it is left to fix."""
        while self.search.reductions and relaxed.outcome is Outcome.SOLVED and self.run.incumbent is not None:
            context = self._proved_at(node, relaxed)
            found: list[Decision] = []
            for reduction in self.search.reductions:
                with self._sparing(type(reduction).__name__, node):
                    found += reduction.reduce(context)
            if not found:
                break
            self._testify(node.number, context.duals, context.bound, fixes=True)
            node = dataclasses.replace(node, path=node.path.below(found))
            self.master.apply(node.decisions)
            again = self._relax(node, round_early=False)
            if self.master.sense.is_better(relaxed.bound, again.bound):
                relaxed = again
            else:  # the former bound still holds for all answers of interest, and it was proved at the former duals
                relaxed = dataclasses.replace(again, bound=relaxed.bound, duals=relaxed.duals)
        return node, relaxed

    def _proved_at(self, node: Node, relaxed: Bounded) -> ReductionContext:
        run = self.run
        return ReductionContext(
            run.sense,
            relaxed.duals,
            relaxed.bound,
            run.target,
            node.decisions,
            run.scale,
            run.budget,
            self._told(node),
        )

    def _told(self, node: Node) -> PricingContext:
        """What oracles are told where a node's dual values are looked at once more."""
        return told(self.master, self._in_node(node), self.parts.settings)

    def _enumerate(self, node: Node, relaxed: Bounded, share: float = 1.0) -> tuple[Evaluation | None, bool]:
        """Close the node by a mixed-integer program over all columns that matter in it, if they can be listed.

        ``share``: of the program's time.  The second answer is whether more of it might help.
        """
        master, run = self.master, self.run
        incumbent = run.incumbent
        if self.search.enumeration is None or incumbent is None or not master.solves_integers:
            return None, False
        if relaxed.outcome is not Outcome.SOLVED or run.expired:
            return None, False
        if node.number in self._barren or node.parent in self._barren:
            self._barren.add(node.number)
            return None, False
        with run.stage("enumeration"), self._sparing(self.search.enumeration.name, node):
            found = self.search.enumeration.enumerate(self._proved_at(node, relaxed))
            if found is None:
                return None, False
            target = run.target
            status, solution = master.solve_over(
                found.columns,
                found.sides,
                target,
                min(share * self.search.enumeration.seconds, run.seconds_left),
                any_will_do=not master.sense.is_better(run.round_bound(relaxed.bound), target),
                stopped=lambda: run.expired,
                values=found.values,
            )
            if status is MasterStatus.INFEASIBLE:  # the node holds nothing better than the incumbent
                if self.search.enumeration_closes:
                    return Evaluation(master.sense.hopeless, "enumerated"), False
                self._barren.add(node.number)
                return None, False
            completed = None if solution is None else self.search.enumeration.complete(solution)
            if completed is not None and run.meets(target, completed.objective):
                self.answers.take(completed, self.search.enumeration.name)
                if status is MasterStatus.OPTIMAL and completed is solution and self.search.enumeration_closes:
                    return Evaluation(solution.objective, "enumerated"), False
            if run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned"), False
            return None, status is MasterStatus.LIMIT
        return None, False

    def _branch(self, node: Node, relaxed: Bounded, solved: MasterSolution) -> Evaluation:
        """What to do with a solved relaxation: take it if it is whole, else look for answers near it and split it."""
        solution = self.master.solution(solved)
        solved_exactly = relaxed.outcome is Outcome.SOLVED and not self._stopped_early(relaxed, solved)
        exact = solved.objective if solved_exactly and not self.master.overuses(solved, self.pricing) else None
        unresolved = self._unproved(node, relaxed) if relaxed.outcome is Outcome.UNPROVED else None
        if self.search.relaxation_only:  # "optimal" is then said of the relaxation
            if self.master.overuses(solved, self.pricing):  # its bound speaks of answers, which use fewer columns
                relaxed = dataclasses.replace(relaxed, bound=self.run.sense.best(relaxed.bound, solved.objective))
            met = not self._stopped_early(relaxed, solved)  # not so where an oracle's bound is a relaxation's
            unresolved = unresolved or (Termination.OPTIMAL if met else self._unproved(node, relaxed))
            return Evaluation(relaxed.bound, "solved", unresolved=unresolved, stop=relaxed.termination)
        if relaxed.outcome is Outcome.STOPPED:
            self._round_off(node, solved, relaxed.termination)
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination)
        if self.master.is_whole(solved) and self.answers.take_whole(solved):
            # If column generation stopped early, an answer better than this one may be hidden in the rounding:
            # there is none whose rounded objective is better, and that is what the bound says.
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
        # A dive often finds in less time what a long program proves, so that the program is tried shortly, then again.
        dives = any(not heuristic.quick and heuristic.applies(node.depth) for heuristic in self.search.heuristics)
        closed, cut_short = self._enumerate(node, relaxed, _TRIAL if dives else 1.0)
        if closed is not None:
            return closed
        start = _Start(self.master.basis(), relaxed.start)
        self._search(node, solution, relaxed.bound, quick=False)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        sharp = self._sharpened(node, relaxed)  # an answer may have come since
        if self.run.prunes(sharp):
            return Evaluation(sharp, "pruned")
        if dives and cut_short:
            closed, _ = self._enumerate(node, relaxed)
            if closed is not None:
                return closed
        for rule in self.search.branching:
            chosen = self._choose(rule, node, relaxed, solved, start)
            if chosen is None:
                continue
            check_children(rule, node.number, chosen.candidate.children, solution)
            if self.run.prunes(relaxed.bound):  # by an answer that a child has shown
                return Evaluation(relaxed.bound, "pruned", exact=exact)
            bounds = [self.run.sense.ideal if tried is None else tried.bound for tried in chosen.tried]
            starts = self._starts(chosen, start, solved.objective)
            for k, tried in enumerate(chosen.tried):
                if tried is not None and tried.bounded is not None:
                    self._testify((node.number, k), tried.bounded.duals, tried.bound)
                    self._testify((node.number, k), tried.bounded.ray, self.master.sense.ideal, costs_count=False)
            return Evaluation(
                relaxed.bound, "branched", chosen.candidate.children, start, exact, bounds=bounds, starts=starts
            )
        for rule in self.search.branching:
            recovered = rule.recover(solution)
            if recovered is not None:
                if not (
                    self.run.meets(recovered.objective, solution.objective)
                    and self.run.meets(solution.objective, recovered.objective)
                ):
                    raise BranchingError(
                        f"{type(rule).__name__}.recover returned a solution of objective {recovered.objective:g} for "
                        f"a relaxation of {solution.objective:g}"
                    )
                self.answers.take(recovered, f"{type(rule).__name__}.recover")
                return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
        if unresolved is None and relaxed.weakness and self._stopped_early(relaxed, solved):
            unresolved = self._unproved(node, relaxed)  # not even its relaxation is
        return Evaluation(relaxed.bound, "stuck", exact=exact, unresolved=unresolved or Termination.NO_BRANCHING)

    def _choose(
        self, rule: BranchingRule, node: Node, relaxed: Bounded, solved: MasterSolution, start: _Start
    ) -> Chosen | None:
        """The candidate that the node is split by, and what is known of its children."""
        solution = self.master.solution(solved)
        choice = self.search.choice
        if isinstance(choice, MostFractional) or not self.master.holds_columns:
            return first_of(rule, solution)
        state = NodeState(node.number, node.depth, node.decisions, relaxed.bound, relaxed.duals)
        trying = Trying(self.parts, state, solved.objective, start.basis)
        with self.run.stage("branching"):
            with self._sparing(type(choice).__name__, node):
                return choice.choose(rule, solution, self._costs, trying)
            return first_of(rule, solution)

    def _starts(self, chosen: Chosen, start: _Start, objective: float) -> list[_Start]:
        """What each child is handed: the basis that it has been tried to, if it was, and what is to be learnt of it."""
        starts = []
        candidate = chosen.candidate
        for k in range(len(candidate.children)):
            tried = chosen.tried[k] if k < len(chosen.tried) else None
            known = start.basis if tried is None or tried.basis is None else tried.basis
            moved = (candidate.quantity, *candidate.moves[k], objective) if candidate.moves else None
            starts.append(_Start(known, start.left, None if tried is not None and tried.exact else moved))
        return starts

    def _learn(self, node: Node, relaxed: Bounded) -> None:
        """Let pseudo-costs learn how much a child is worse than its parent."""
        moved = None if node.start is None else node.start.moved
        if moved is None or relaxed.solved is None or relaxed.solved.phase == 1:
            return
        if relaxed.outcome in (Outcome.SOLVED, Outcome.PRUNED):
            quantity, direction, distance, objective = moved
            value = relaxed.solved.objective if relaxed.outcome is Outcome.SOLVED else relaxed.bound
            gain = self.run.sense.sign * (value - objective)
            self._costs.learn(quantity, direction, distance, max(gain, 0.0))

    def _branch_near(self, node: Node, relaxed: Bounded, solution: Solution) -> Evaluation:
        """Split a node at a solution of its relaxation that no linear program stands behind."""
        if self.search.relaxation_only:
            return Evaluation(relaxed.bound, "solved", unresolved=Termination.NO_BOUND, stop=relaxed.termination)
        if relaxed.outcome is Outcome.STOPPED:
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination or self.run.budget.reason)
        if self.master.num_columns:
            self._search(node, solution, relaxed.bound, quick=True)
            self._search(node, solution, relaxed.bound, quick=False)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned")
        for rule in self.search.branching:
            children = rule.branch(solution)
            if children:
                check_children(rule, node.number, children, solution)
                return Evaluation(relaxed.bound, "branched", children, _Start(None, relaxed.start))
        return Evaluation(relaxed.bound, "stuck", unresolved=Termination.NO_BRANCHING)

    def _closed(self, bound: float, duals: Any) -> bool:
        """Whether a bound on the root proves the incumbent; where the relaxation is wanted, that it is its optimum."""
        run = self.run
        if run.incumbent is None or not run.is_checked or not run.prunes(bound):
            return False
        # Multiplicities bound answers, and not what a linear program makes of fractions.
        fractions = self.search.relaxation_only and isinstance(duals, Duals)
        return not (fractions and any(math.isfinite(oracle.multiplicity) for oracle in self.pricing))

    def is_solved(self, bound: float) -> bool:
        """Whether the root's relaxation has a solution that a bound proves to be its best."""
        return self.root is not None and self.run.meets(bound, self.root.objective)

    def _certify(self, bound: float, duals: Any) -> None:
        named = None if duals is None else self.master.named(duals)
        if named is not None:
            self.certificate = Certificate(bound, named)
            self._proved_by = duals

    def pool(self) -> Pool | None:
        return self.master.pool(self._proved_by)

    def _open(self, node: Node, relaxed: Bounded) -> Termination | None:
        """Why a node that ended in a whole solution is unresolved: its bound proves less than the solution is worth."""
        if self.run.meets(relaxed.bound, self.run.objective) or self.run.prunes(relaxed.bound):
            return None
        return self._unproved(node, relaxed)

    def _unproved(self, node: Node, relaxed: Bounded) -> Termination:
        """Say which oracles leave a node without a proof."""
        if relaxed.weakness:
            self.run.notes.append(f"Node {node.number} is not proved: {relaxed.weakness}.")
        return Termination.NO_BOUND

    def _stopped_early(self, relaxed: Bounded, solved: MasterSolution) -> bool:
        return not self.run.meets(relaxed.bound, solved.objective)

    def _round_off(self, node: Node, solved: MasterSolution, reason: Termination | None) -> None:
        """Where a limit ends a node: look for an answer among the columns at hand, in what time is left for grace."""
        run = self.run
        budget = run.budget
        if solved.phase == 1 or not self.master.solves_integers:
            return
        with run.stage("heuristics"), self._sparing("rounding", node):
            rounded = self.master.rounded(self.master.solution(solved))
            if rounded is not None:
                self.answers.take(rounded, "rounding")
        mip = next((h for h in self.search.heuristics if isinstance(h, RestrictedMIP)), None)
        if mip is None or run.incumbent is not None or reason is Termination.INTERRUPTED:
            return
        # Nothing is known yet: a limit of t seconds ends within 1.05 t + 0.1, and this takes a part of that.
        seconds = mip.seconds if run.seconds_left > 0.0 else _GRACE * budget.seconds
        with run.stage("heuristics"), self._sparing(mip.name, node):
            found, _ = self.master.solve_integer(min(seconds, mip.seconds), None, lambda: budget.interrupted)
            if found is not None:
                self.answers.take(found, mip.name)

    @contextlib.contextmanager
    def _sparing(self, name: str, node: Node) -> Iterator[None]:
        """Let the run go on where something fails that it can do without, and say so."""
        try:
            yield
        except (SolverError, programs.SolverError, ArithmeticError, MemoryError) as error:
            self.run.notes.append(f"{name} failed at node {node.number} and was skipped: {error}.")

    def _in_node(self, node: Node | NodeState, fixed: tuple[tuple[Column, float], ...] = ()) -> PricingContext:
        return PricingContext(
            self.master.sense,
            decisions=node.decisions,
            fixed=fixed,
            deadline=self.run.deadline,
            budget=self.run.budget,
            pricing_out=self.master.reduced_costs,
        )

    # --- answers -----------------------------------------------------------------------------------------------------

    def _search(self, node: Node, solution: Solution, bound: float, quick: bool) -> None:
        """Run the quick heuristics, or the others, that apply at this depth."""

        def regenerate(fixed: Mapping[Hashable, float], proper: str | None) -> Bounded:
            self.master.fix(fixed, proper)
            pairs = tuple((self.master.find(identity), value) for identity, value in fixed.items())
            proved = self.run.node_bound
            try:
                return column_generation(
                    NodeState(node.number, node.depth + 1, node.decisions, self.master.sense.ideal),
                    dataclasses.replace(
                        self._parts,  # what a dive finds is no answer of the node's own
                        stabilization=NoStabilization(),
                        settings=dataclasses.replace(
                            self.parts.settings, stop_early=True, round_early=True, keep_duals=False
                        ),
                        context=lambda state: self._in_node(state, pairs),
                    ),
                )
            finally:  # also if interrupted: what a dive proves holds under its fixings only
                self.run.node_bound = proved

        context = HeuristicContext(self.master, solution, self.run, node.depth, regenerate)
        for heuristic in self.search.heuristics:
            if heuristic.quick is not quick or not heuristic.applies(node.depth) or self.run.expired:
                continue
            with self.run.stage("heuristics"), self._sparing(heuristic.name, node):
                found = heuristic.search(context)
                if found is not None:
                    self.answers.take(found, heuristic.name)
            if self.run.prunes(bound):
                return

    def _keep_root(self, relaxed: Bounded) -> None:
        self.root_bound = relaxed.bound
        if relaxed.bound == self.master.sense.hopeless:
            return  # what a bounding ended with is no solution of a relaxation that has none
        pruned = self.search.relaxation_only and relaxed.outcome is Outcome.PRUNED
        if pruned and self._closed(relaxed.bound, relaxed.duals):
            self.root = self.run.incumbent  # an answer is a solution of the relaxation, here its best
        elif relaxed.solved is not None and relaxed.solved.phase == 2:
            self.root = self.master.solution(relaxed.solved)
        elif relaxed.solution is not None:
            self.root = relaxed.solution
        else:
            return
        self._certify(relaxed.bound, relaxed.duals)
