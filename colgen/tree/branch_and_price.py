"""Branch and price: column and row generation as the relaxation of a branch-and-bound tree."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Hashable
from typing import NamedTuple

from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, children_of
from colgen.branching.selection import Chosen, MostFractional, first_of
from colgen.branching.trials import Trying
from colgen.core.activity import activity
from colgen.core.column_batch import Columns
from colgen.core.columns import Row
from colgen.core.duals import DualPoint, Duals
from colgen.core.errors import BranchingError, InfeasibleAnswerError, SeparationError
from colgen.core.pool import Pool
from colgen.core.result import Certificate, Termination
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.core.warm_start import WarmStart
from colgen.heuristics import fair
from colgen.master.program import SavedBasis
from colgen.master.protocol import MasterSolution, is_integral, switch
from colgen.tree.incumbents import Answers
from colgen.tree.node import Evaluation, Node, check_against_incumbent, check_children, sparing
from colgen.tree.node_bounds import NodeBounds
from colgen.tree.node_enumeration import NodeEnumeration
from colgen.tree.node_heuristics import NodeHeuristics
from colgen.tree.parts import Search
from colgen.tree.search import Relaxation

_LEAF = {
    Outcome.PRUNED: "pruned",
    Outcome.INFEASIBLE: "infeasible",
}


_FEASIBLE = 10.0
"""Seconds in which an answer is looked for among the columns at hand, where the relaxation is unbounded."""

_ROOM = TOLERANCES.feasibility
"""A row that a known answer violates by no more than this, relative to its size, does not cut it off."""

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
    seat
        Of which restricted master the basis is, where there are several.
    """

    basis: SavedBasis | None
    left: object
    moved: tuple[Hashable, int, float, float] | None = None
    seat: int = 0


def started(moved: tuple[Hashable, int, float, float]) -> _Start:
    """What a node of another run starts from: by what it differs from its parent."""
    return _Start(None, None, moved)


class BranchAndPrice(Relaxation):
    """Evaluates nodes by column generation over one restricted master that is switched from node to node.

    Columns stay in the master from node to node: those that a node's decisions forbid are switched off there.

    Attributes
    ----------
    seat
        Its number among several that evaluate nodes at once.
    """

    seat = 0

    def __init__(self, parts: Parts, search: Search, bounding: Bounding, duals: DualPoint = None) -> None:
        self.search = search
        self.master, self.pricing, self.run = parts.master, parts.oracles, parts.run
        self.root: Solution | None = None
        self.root_bound = parts.master.sense.ideal
        self.certificate: Certificate | None = None
        self._proved_by: DualPoint = None
        self.answers = Answers(parts, looking=not search.relaxation_only, rounding=bool(search.heuristics))
        self.bounds = NodeBounds(parts, search, bounding, self.answers, duals)
        self.heuristics = NodeHeuristics(search.heuristics, parts, self.bounds)
        self.enumeration = NodeEnumeration(search.enumeration, self.bounds)
        self.costs = PseudoCosts()
        parts.master.oracles = parts.oracles
        for separation in parts.separation:
            separation.suit(parts.master)
        for rule in search.branching:
            rule.suit(parts.master)

    def start(self, warm: WarmStart, source: str) -> bool:
        """Take in what the problem knows before the first round; whether that is an answer and its proof.

        Everything is a guess: answers are checked, and one round of pricing at the dual values proves what they are
        worth.  ``source``: who gave it.
        """
        run = self.run
        for answer in warm.answers:
            try:
                self.answers.take_with_columns(answer, source)
            except InfeasibleAnswerError as error:
                if not warm.tentative:
                    raise
                run.notes.append(f"An answer to start from does not fit and was left out: {error}.")
        self.bounds.size_up()
        found = self.bounds.guessed(warm.duals)
        if found is not None:
            self.root_bound = found.bound
            self._certify(found.bound, found.duals)
            check_against_incumbent(run, self.pricing, Node(), found.bound)
            if self._closed(found.bound, found.duals):
                self.root = run.incumbent
                run.prove(found.bound)  # which the round has not, where the relaxation is what is wanted
                return True
            self.bounds.add_priced(found)
        columns = warm.columns if isinstance(warm.columns, Columns) else list(warm.columns)  # a batch stays one
        self.master.add(columns, self._valid(warm, source))
        if warm.basis is not None and self.master.node is not None:
            self.master.node.restore(warm.basis)
        return False

    def _valid(self, warm: WarmStart, source: str) -> list[Row]:
        """The rows to start from; one that cuts off an answer is an error, or left out where all is tentative."""
        valid = []
        for row in warm.rows:
            cut_off = next((known for known in self.run.known if activity(row, known).violation > _ROOM), None)
            if cut_off is None:
                valid.append(row)
                continue
            words = f"the row {row.key!r}, which cuts off a known answer of objective {cut_off.objective:g}"
            if not warm.tentative:
                raise SeparationError(f"{source} returned {words}: rows must be valid for every answer")
            self.run.notes.append(f"A row to start from was left out: {words}.")
        return valid

    def evaluate(self, node: Node) -> Evaluation:
        self.bounds.size_up()
        mine = node.start is not None and node.start.seat == self.seat
        switch(self.master, node.decisions, node.start.basis if mine else None)
        relaxed = self.bounds.relax(node)
        check_against_incumbent(self.run, self.pricing, node, relaxed.bound)
        self._learn(node, relaxed)
        if node.number == 0:
            self._keep_root(relaxed)
        if relaxed.outcome is Outcome.SOLVED and relaxed.solved is not None and not self.search.relaxation_only:
            if self.heuristics.apply(node.depth, quick=True):
                self.heuristics.search(node, self.master.solution(relaxed.solved), relaxed.bound, quick=True)
            if self.run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned")
            if relaxed.unfinished:
                return self._judge(node, relaxed)
            early = self._stopped_early(relaxed, relaxed.solved)
            feeds = self.search.reductions or self.search.enumeration is not None
            if early and (feeds or self.heuristics.apply(node.depth, quick=False)):
                # They feed on the last bit of the bound, or on the last columns, which a rounded value did not need.
                relaxed = self._to_the_end(node)
                if node.number == 0:
                    self._keep_root(relaxed)
            sharp = self.bounds.round_exactly(node, relaxed)
            if self.run.prunes(sharp):
                return Evaluation(sharp, "pruned")
            reduced, relaxed = self.bounds.reduced(node, relaxed)
            fixed = reduced.decisions[len(node.decisions) :]
            return dataclasses.replace(self._judge(reduced, relaxed), fixed=fixed)
        near = relaxed.solved is None and relaxed.solution is not None
        if relaxed.outcome is Outcome.SOLVED and near and not self.search.relaxation_only:
            # Marginals need dual values and the bound that the oracles prove there, and no linear program.
            reduced, relaxed = self.bounds.reduced(node, relaxed)
            fixed = reduced.decisions[len(node.decisions) :]
            return dataclasses.replace(self._judge(reduced, relaxed), fixed=fixed)
        return self._judge(node, relaxed)

    def _judge(self, node: Node, relaxed: Bounded, at_end: bool = False) -> Evaluation:
        """What becomes of a node whose relaxation has been treated."""
        if relaxed.outcome in _LEAF:
            return Evaluation(relaxed.bound, _LEAF[relaxed.outcome])
        if relaxed.outcome is Outcome.UNBOUNDED:
            return Evaluation(relaxed.bound, "unbounded", stop=self._unbounded())
        solved = relaxed.solved
        if solved is None and relaxed.solution is not None:
            return self._branch_near(node, relaxed, relaxed.solution)
        if solved is None or solved.phase == 1:
            stop = relaxed.termination
            missing = None if stop else self._unproved(node, relaxed)
            return Evaluation(relaxed.bound, "stopped", unresolved=missing, stop=stop)
        return self._branch(node, relaxed, solved, at_end)

    def _unbounded(self) -> Termination:
        """What an unbounded relaxation proves: nothing, without an answer.

        With one the problem is unbounded too, by a theorem of Meyer (1974) on programs of rational data.
        """
        run = self.run
        if self.search.relaxation_only:
            return Termination.UNBOUNDED
        if run.incumbent is None and self.master.integer is not None:
            with run.stage("heuristics"), contextlib.suppress(InfeasibleAnswerError):
                found, _ = self.master.integer.solve(fair(_FEASIBLE, run), None, lambda: run.expired)
                if found is not None:
                    self.answers.take(found, "the restricted master")
        return Termination.UNBOUNDED_OR_INFEASIBLE if run.incumbent is None else Termination.UNBOUNDED

    def _branch(self, node: Node, relaxed: Bounded, solved: MasterSolution, at_end: bool) -> Evaluation:
        """What to do with a solved relaxation: take it if it is whole, else look for answers near it and split it.

        ``at_end``: whether column generation has come to its end, also where a rounded bound was decided before.
        """
        solution = self.master.solution(solved)
        solved_exactly = relaxed.outcome is Outcome.SOLVED and not self._stopped_early(relaxed, solved)
        exact = solved.objective if solved_exactly and not self._overuses(solved) else None
        unresolved = self._unproved(node, relaxed) if relaxed.outcome is Outcome.UNPROVED else None
        if self.search.relaxation_only:
            return self._relaxed(node, relaxed, solved, unresolved)
        if relaxed.outcome is Outcome.STOPPED:
            self.heuristics.round_off(node, solved, relaxed.termination)
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination)
        if is_integral(self.master, solved) and self.answers.take_whole(solved):
            # If column generation stopped early, an answer better than this one may be hidden in the rounding:
            # there is none whose rounded objective is better, and that is what the bound says.
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
        # A dive often finds in less time what a long program proves, so that the program is tried shortly, then again.
        dives = self.heuristics.apply(node.depth, quick=False)
        closed, cut_short = self.enumeration.close(node, relaxed, _TRIAL if dives else 1.0)
        if closed is not None:
            return closed
        start = _Start(None if self.master.node is None else self.master.node.basis(), relaxed.start, seat=self.seat)
        self.heuristics.search(node, solution, relaxed.bound, quick=False)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        sharp = self.bounds.round_exactly(node, relaxed)  # an answer may have come since
        if self.run.prunes(sharp):
            return Evaluation(sharp, "pruned")
        if dives and cut_short:
            closed, _ = self.enumeration.close(node, relaxed)
            if closed is not None:
                return closed
        branched = self._split(node, relaxed, solved, solution, start, exact)
        if branched is not None:
            return branched
        # What no rule can split the end of column generation may, or show to be an answer.
        if not at_end and (relaxed.unfinished or self._rounded(relaxed, solved)):
            return self._judge(node, self._to_the_end(node), at_end=True)
        if self._recovers(solution):
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
        self.heuristics.search_again(node, solution, relaxed.bound)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        if unresolved is None and relaxed.weakness and self._stopped_early(relaxed, solved):
            unresolved = self._unproved(node, relaxed)  # not even its relaxation is
        return Evaluation(relaxed.bound, "stuck", exact=exact, unresolved=unresolved or Termination.NO_BRANCHING)

    def _relaxed(
        self, node: Node, relaxed: Bounded, solved: MasterSolution, unresolved: Termination | None
    ) -> Evaluation:
        """Evaluate the root where the relaxation alone is wanted: "optimal" is then said of the relaxation."""
        if self._overuses(solved):  # its bound speaks of answers, which use fewer columns
            relaxed = dataclasses.replace(relaxed, bound=self.run.sense.best(relaxed.bound, solved.objective))
        met = not self._stopped_early(relaxed, solved)  # not so where an oracle's bound is a relaxation's
        unresolved = unresolved or (Termination.OPTIMAL if met else self._unproved(node, relaxed))
        return Evaluation(relaxed.bound, "solved", unresolved=unresolved, stop=relaxed.termination)

    def _split(
        self,
        node: Node,
        relaxed: Bounded,
        solved: MasterSolution,
        solution: Solution,
        start: _Start,
        exact: float | None,
    ) -> Evaluation | None:
        """Branch by the first rule that has a candidate; None if none has."""
        for rule in self.search.branching:
            chosen = self._choose(rule, node, relaxed, solved, solution, start)
            if chosen is None:
                continue
            check_children(rule, node.number, chosen.candidate.children, solution)
            if self.run.prunes(relaxed.bound):  # by an answer that a child has shown
                return Evaluation(relaxed.bound, "pruned", exact=exact)
            bounds = [self.run.sense.ideal if tried is None else tried.bound for tried in chosen.tried]
            starts = self._starts(chosen, start, solved.objective)
            for k, tried in enumerate(chosen.tried):
                if tried is not None and tried.bounded is not None:
                    self.bounds.testify((node.number, k), tried.bounded.duals, tried.bound)
                    self.bounds.testify((node.number, k), tried.bounded.ray, self.run.sense.ideal, costs_count=False)
            return Evaluation(
                relaxed.bound, "branched", chosen.candidate.children, start, exact, bounds=bounds, starts=starts
            )
        return None

    def _recovers(self, solution: Solution) -> bool:
        """Whether a branching rule makes an answer of a solution that no rule splits."""
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
                return True
        return False

    def _to_the_end(self, node: Node) -> Bounded:
        """The relaxation of a node that was to be branched on before its end, and could not be."""
        relaxed = self.bounds.relax(node, round_early=False)
        check_against_incumbent(self.run, self.pricing, node, relaxed.bound)
        return relaxed

    def _choose(
        self,
        rule: BranchingRule,
        node: Node,
        relaxed: Bounded,
        solved: MasterSolution,
        solution: Solution,
        start: _Start,
    ) -> Chosen | None:
        """The candidate that the node is split by, and what is known of its children."""
        choice = self.search.choice
        if isinstance(choice, MostFractional) or not self.master.holds_columns:
            return first_of(rule, solution)
        state = NodeState(node.number, node.depth, node.decisions, relaxed.bound, relaxed.duals)
        trying = Trying(self.bounds.parts, state, solved.objective, start.basis)
        with self.run.stage("branching"):
            with sparing(self.run, type(choice).__name__, node):
                return choice.choose(rule, solution, self.costs, trying)
            return first_of(rule, solution)

    def _starts(self, chosen: Chosen, start: _Start, objective: float) -> list[_Start]:
        """What each child is handed: the basis that it has been tried to, if it was, and what is to be learnt of it."""
        starts = []
        candidate = chosen.candidate
        for k in range(len(candidate.children)):
            tried = chosen.tried[k] if k < len(chosen.tried) else None
            known = start.basis if tried is None or tried.basis is None else tried.basis
            moved = (candidate.quantity, *candidate.moves[k], objective) if candidate.moves else None
            learnt = tried is not None and tried.exact
            starts.append(_Start(known, start.left, None if learnt else moved, self.seat))
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
            self.costs.learn(quantity, direction, distance, max(gain, 0.0))

    def _branch_near(self, node: Node, relaxed: Bounded, solution: Solution) -> Evaluation:
        """Split a node at a solution of its relaxation that no linear program stands behind."""
        if self.search.relaxation_only:
            return Evaluation(relaxed.bound, "solved", unresolved=Termination.NO_BOUND, stop=relaxed.termination)
        if relaxed.outcome is Outcome.STOPPED:
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination or self.run.budget.reason)
        if self.master.num_columns:
            self.heuristics.search(node, solution, relaxed.bound, quick=True)
            self.heuristics.search(node, solution, relaxed.bound, quick=False)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned")
        for rule in self.search.branching:
            children = children_of(rule, solution)
            if children:
                check_children(rule, node.number, children, solution)
                return Evaluation(relaxed.bound, "branched", children, _Start(None, relaxed.start, seat=self.seat))
        return Evaluation(relaxed.bound, "stuck", unresolved=Termination.NO_BRANCHING)

    def _closed(self, bound: float, duals: DualPoint) -> bool:
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

    def _overuses(self, solved: MasterSolution) -> bool:
        """Whether a solution uses more columns of some pricing problem than any answer does."""
        return self.master.rows is not None and self.master.rows.overuses(solved, self.pricing)

    def _certify(self, bound: float, duals: DualPoint) -> None:
        if isinstance(duals, Duals):
            self.certificate = Certificate(bound, duals.named())
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

    def _rounded(self, relaxed: Bounded, solved: MasterSolution) -> bool:
        """Whether column generation ended because the rounded bound was decided, before its end."""
        solved_early = relaxed.outcome is Outcome.SOLVED and self._stopped_early(relaxed, solved)
        return self.run.step is not None and solved_early

    def _keep_root(self, relaxed: Bounded) -> None:
        self.root_bound = relaxed.bound
        if relaxed.bound == self.master.sense.hopeless:
            return  # what a bounding ended with is no solution of a relaxation that has none
        pruned = self.search.relaxation_only and relaxed.outcome is Outcome.PRUNED
        if pruned and self._closed(relaxed.bound, relaxed.duals):
            self.root = self.run.incumbent  # an answer is a solution of the relaxation, here its best
        elif relaxed.solved is not None and relaxed.solved.phase == 2:
            if not relaxed.solved.exchanging:  # else it is no solution of the relaxation
                self.root = self.master.solution(relaxed.solved)
        elif relaxed.solution is not None:
            self.root = relaxed.solution
        else:
            return
        self._certify(relaxed.bound, relaxed.duals)
