"""Branch and price: branch and bound with column and row generation as the relaxation."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Hashable
from typing import NamedTuple

from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.branching.pseudo_costs import PseudoCosts
from colgen.branching.rules import BranchingRule, children_of
from colgen.branching.selection import Chosen, MostFractional, choose_first
from colgen.branching.trials import Trials
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
from colgen.tree.incumbents import Incumbents
from colgen.tree.node import Evaluation, Node, check_against_incumbent, check_children, skip_on_failure
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
"""Seconds to look for a feasible solution over the known columns if the relaxation is unbounded."""

_ROOM = TOLERANCES.feasibility
"""Relative violation of a row up to which it does not cut off a known solution."""

_TRIAL = 0.1
"""Share of its time that the program over enumerated columns gets before heuristics have run."""


class NodeStart(NamedTuple):
    """Data that a node leaves to its children.

    ``basis`` is a basis of the restricted master of ``seat``, and ``bounding`` a state of the bounding. Pseudo-costs
    learn from ``change``: the branching decision and the objective of the parent. It is empty (None) once learnt.
    """

    basis: SavedBasis | None
    bounding: object
    change: tuple[Hashable, int, float, float] | None = None
    seat: int = 0


class BranchAndPrice(Relaxation):
    """Evaluates nodes by column generation over one restricted master, which is switched from node to node.

    Columns stay in the master. Those that the decisions of a node forbid are disabled there. Each of several objects
    that evaluate nodes in parallel has a ``seat`` number.
    """

    seat = 0

    def __init__(self, parts: Parts, search: Search, bounding: Bounding, duals: DualPoint = None) -> None:
        self.search = search
        self.master, self.pricing, self.run = parts.master, parts.oracles, parts.run
        self.root: Solution | None = None
        self.root_bound = parts.master.sense.ideal
        self.certificate: Certificate | None = None
        self._proved_by: DualPoint = None
        self.incumbents = Incumbents(parts, looking=not search.relaxation_only, rounding=bool(search.heuristics))
        self.bounds = NodeBounds(parts, search, bounding, self.incumbents, duals)
        self.heuristics = NodeHeuristics(search.heuristics, parts, self.bounds)
        self.enumeration = NodeEnumeration(search.enumeration, self.bounds)
        self.costs = PseudoCosts()
        parts.master.oracles = parts.oracles
        for separation in parts.separation:
            separation.suit(parts.master)
        for rule in search.branching:
            rule.suit(parts.master)

    def start(self, warm: WarmStart, source: str) -> bool:
        """Add the warm start before the first round. Return whether it proves its own optimality.

        Solutions are checked, and one pricing round at the dual values proves a bound. ``source`` names the origin.
        """
        run = self.run
        for answer in warm.answers:
            try:
                self.incumbents.offer_with_columns(answer, source)
            except InfeasibleAnswerError as error:
                if not warm.tentative:
                    raise
                run.notes.append(f"An answer of the warm start is infeasible and was left out: {error}.")
        self.bounds.estimate_scale()
        found = self.bounds.price_guess(warm.duals)
        if found is not None:
            self.root_bound = found.bound
            self._certify(found.bound, found.duals)
            check_against_incumbent(run, self.pricing, Node(), found.bound)
            if self._proves_root(found.bound, found.duals):
                self.root = run.incumbent
                run.prove(found.bound)  # the round does not do this if only the relaxation is wanted
                return True
            self.bounds.add_priced(found)
        columns = warm.columns if isinstance(warm.columns, Columns) else list(warm.columns)
        self.master.add(columns, self._valid_rows(warm, source))
        if warm.basis is not None and self.master.node is not None:
            self.master.node.restore(warm.basis)
        return False

    def _valid_rows(self, warm: WarmStart, source: str) -> list[Row]:
        """Return the valid rows of the warm start. One that cuts off a known solution is an error unless tentative."""
        valid = []
        for row in warm.rows:
            cut_off = next((known for known in self.run.known if activity(row, known).violation > _ROOM), None)
            if cut_off is None:
                valid.append(row)
                continue
            description = f"the row {row.key!r}, which cuts off a known answer of objective {cut_off.objective:g}"
            if not warm.tentative:
                raise SeparationError(f"{source} returned {description}: rows must be valid for every answer")
            self.run.notes.append(f"A row of the warm start was left out: {description}.")
        return valid

    def evaluate(self, node: Node) -> Evaluation:
        with self.run.budget.allotment.counting():
            return self._evaluate(node)

    def _evaluate(self, node: Node) -> Evaluation:
        self.bounds.estimate_scale()
        closed = None if self.search.relaxation_only else self.enumeration.close_root(node)
        if closed is not None:
            return closed
        mine = node.start is not None and node.start.seat == self.seat
        with self.run.stage("master"):
            switch(self.master, node.decisions, node.start.basis if mine else None)
        self.run.cuts_wait = self._lets_cuts_wait(node)
        relaxed = self.bounds.relax(node, between=None if self.search.relaxation_only else self.heuristics.between)
        check_against_incumbent(self.run, self.pricing, node, relaxed.bound)
        self._learn(node, relaxed)
        if node.number == 0:
            self._store_root(relaxed)
        is_solved = relaxed.outcome is Outcome.SOLVED and not self.search.relaxation_only
        if is_solved and relaxed.solved is not None:
            if self.heuristics.apply(node.depth, quick=True):
                self.heuristics.search(node, self.master.solution(relaxed.solved), relaxed.bound, quick=True)
            if self.run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned")
            if relaxed.unfinished:
                return self._conclude(node, relaxed)
            early = self._stopped_early(relaxed, relaxed.solved)
            fixes = self.search.reductions or self.search.enumeration is not None
            if early and (fixes or self.heuristics.apply(node.depth, quick=False)):
                # These profit from the exact bound or the last columns, which the rounded bound did not need.
                relaxed = self._complete(node)
                if node.number == 0:
                    self._store_root(relaxed)
            sharp = self.bounds.round_exactly(node, relaxed)
            if self.run.prunes(sharp):
                return Evaluation(sharp, "pruned")
        elif not is_solved or relaxed.solution is None:
            return self._conclude(node, relaxed)
        # Fixing by marginals needs dual values and their bound, but no linear program.
        waited = self.run.cuts_wait
        reduced, relaxed = self.bounds.reduce_and_solve(node, relaxed, self.heuristics.between)
        if waited:
            self._store_root(relaxed)
        return _with_fixed(node, reduced, self._conclude(reduced, relaxed))

    def _lets_cuts_wait(self, node: Node) -> bool:
        """Return whether cuts that make pricing harder are added after fixing by reduced costs has made it easier."""
        if node.number or self.search.relaxation_only or not self.search.reductions or self.run.incumbent is None:
            return False
        return any(separation.after_fixing for separation in self.bounds.parts.separation)

    def _conclude(self, node: Node, relaxed: Bounded, at_end: bool = False, searched: bool = False) -> Evaluation:
        """Return the evaluation of a node whose relaxation has been bounded.

        ``searched``: the heuristics of the node have run.
        """
        if relaxed.outcome in _LEAF:
            return Evaluation(relaxed.bound, _LEAF[relaxed.outcome])
        if relaxed.outcome is Outcome.UNBOUNDED:
            return Evaluation(relaxed.bound, "unbounded", stop=self._conclude_unbounded())
        solved = relaxed.solved
        if solved is None and relaxed.solution is not None:
            return self._branch_without_lp(node, relaxed, relaxed.solution)
        if solved is None or solved.phase == 1:
            stop = relaxed.termination
            missing = None if stop else self._note_weakness(node, relaxed)
            return Evaluation(relaxed.bound, "stopped", unresolved=missing, stop=stop)
        return self._branch(node, relaxed, solved, at_end, searched)

    def _conclude_unbounded(self) -> Termination:
        """Return what an unbounded relaxation proves.

        With a feasible solution the problem is unbounded too, by a theorem of Meyer (1974) on programs with rational
        data. Without one nothing is proved.
        """
        run = self.run
        if self.search.relaxation_only:
            return Termination.UNBOUNDED
        if run.incumbent is None and self.master.integer is not None:
            with run.stage("heuristics"), contextlib.suppress(InfeasibleAnswerError):
                found, _ = self.master.integer.solve(fair(_FEASIBLE, run), None, lambda: run.expired)
                if found is not None:
                    self.incumbents.offer(found, "the restricted master")
        return Termination.UNBOUNDED_OR_INFEASIBLE if run.incumbent is None else Termination.UNBOUNDED

    def _branch(self, node: Node, relaxed: Bounded, solved: MasterSolution, at_end: bool, searched: bool) -> Evaluation:
        """Evaluate a solved relaxation: offer it if it is integral, otherwise run heuristics and branch.

        With ``at_end``, column generation was completed even if a rounded bound had been decided before.
        """
        solution = self.master.solution(solved)
        solved_exactly = relaxed.outcome is Outcome.SOLVED and not self._stopped_early(relaxed, solved)
        # Without the cuts that pricing could not afford, a relaxation may be better than its parent's.
        comparable = solved_exactly and self.run.cut_share == 1.0 and not self._overuses(solved)
        exact = solved.objective if comparable else None
        unresolved = self._note_weakness(node, relaxed) if relaxed.outcome is Outcome.UNPROVED else None
        if self.search.relaxation_only:
            return self._evaluate_relaxation(node, relaxed, solved, unresolved)
        if relaxed.outcome is Outcome.STOPPED:
            self.heuristics.round_off(node, solved, relaxed.termination)
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination)
        if is_integral(self.master, solved) and self.incumbents.offer_integral(solved):
            # If column generation stopped early, a better solution may exist, but its rounded objective is not better.
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._why_unresolved(node, relaxed))
        # Try the program shortly, then dives, then again: a dive is often faster than a long program.
        dives = self.heuristics.apply(node.depth, quick=False)
        closed, cut_short = self.enumeration.close(node, relaxed, _TRIAL if dives else 1.0)
        if closed is not None:
            return closed
        start = NodeStart(None if self.master.node is None else self.master.node.basis(), relaxed.start, seat=self.seat)
        known = self.run.incumbent
        if not searched:
            self.heuristics.search(node, solution, relaxed.bound, quick=False)
        if self.run.expired and self.run.incumbent is None:  # the limit ended a dive
            self.heuristics.round_off(node, solved, None)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        if solved_exactly and self.run.incumbent is not known:  # a smaller gap fixes more
            reduced, again = self.bounds.reduce_and_solve(node, relaxed, self.heuristics.between)
            if reduced is not node:
                return _with_fixed(node, reduced, self._conclude(reduced, again, searched=True))
        sharp = self.bounds.round_exactly(node, relaxed)  # the incumbent may be new
        if self.run.prunes(sharp):
            return Evaluation(sharp, "pruned")
        if dives and cut_short:
            closed, _ = self.enumeration.close(node, relaxed)
            if closed is not None:
                return closed
        branched = self._split(node, relaxed, solved, solution, start, exact)
        if branched is not None:
            return branched
        # Completing column generation may give a solution that can be split, or an integer one.
        if not at_end and (relaxed.unfinished or self._stopped_by_rounding(relaxed, solved)):
            return self._conclude(node, self._complete(node), at_end=True)
        if self._recover(solution):
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._why_unresolved(node, relaxed))
        self.heuristics.search_again(node, solution, relaxed.bound)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        if unresolved is None and relaxed.weakness and self._stopped_early(relaxed, solved):
            unresolved = self._note_weakness(node, relaxed)  # not even the relaxation is proved
        return Evaluation(relaxed.bound, "stuck", exact=exact, unresolved=unresolved or Termination.NO_BRANCHING)

    def _evaluate_relaxation(
        self, node: Node, relaxed: Bounded, solved: MasterSolution, unresolved: Termination | None
    ) -> Evaluation:
        """Evaluate the root if only the relaxation is wanted: "optimal" then refers to the relaxation."""
        if self._overuses(solved):  # its bound is for integer solutions, which use fewer columns
            relaxed = dataclasses.replace(relaxed, bound=self.run.sense.best(relaxed.bound, solved.objective))
        met = not self._stopped_early(relaxed, solved)  # false if an oracle states the bound of a relaxation
        unresolved = unresolved or (Termination.OPTIMAL if met else self._note_weakness(node, relaxed))
        return Evaluation(relaxed.bound, "solved", unresolved=unresolved, stop=relaxed.termination)

    def _split(
        self,
        node: Node,
        relaxed: Bounded,
        solved: MasterSolution,
        solution: Solution,
        start: NodeStart,
        exact: float | None,
    ) -> Evaluation | None:
        """Branch by the first rule that has a candidate. Return None if none has."""
        for rule in self.search.branching:
            chosen = self._choose(rule, node, relaxed, solved, solution, start)
            if chosen is None:
                continue
            check_children(rule, node.number, chosen.candidate.children, solution)
            if self.run.prunes(relaxed.bound):  # by a solution of a trial
                return Evaluation(relaxed.bound, "pruned", exact=exact)
            bounds = [self.run.sense.ideal if tried is None else tried.bound for tried in chosen.tried]
            starts = self._starts(chosen, start, solved.objective)
            for k, tried in enumerate(chosen.tried):
                if tried is not None and tried.bounded is not None:
                    self.bounds.record_proof((node.number, k), tried.bounded.duals, tried.bound)
                    self.bounds.record_proof(
                        (node.number, k), tried.bounded.ray, self.run.sense.ideal, costs_count=False
                    )
            return Evaluation(
                relaxed.bound, "branched", chosen.candidate.children, start, exact, bounds=bounds, starts=starts
            )
        return None

    def _recover(self, solution: Solution) -> bool:
        """Offer a feasible solution that a branching rule makes of a solution; return whether one does."""
        for rule in self.search.branching:
            recovered = rule.recover(solution)
            if recovered is not None:
                if not (
                    self.run.meets(recovered.objective, solution.objective)
                    and self.run.meets(solution.objective, recovered.objective)
                ):
                    raise BranchingError(
                        f"{type(rule).__name__}.recover returned a solution of objective {recovered.objective:g}: "
                        f"expected the objective {solution.objective:g} of the relaxation"
                    )
                self.incumbents.offer(recovered, f"{type(rule).__name__}.recover")
                return True
        return False

    def _complete(self, node: Node) -> Bounded:
        """Complete the relaxation of a node that could not be branched on early."""
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
        start: NodeStart,
    ) -> Chosen | None:
        """Return the candidate to branch on, and the trials of its children."""
        choice = self.search.choice
        if isinstance(choice, MostFractional) or not self.master.holds_columns:
            return choose_first(rule, solution)
        state = NodeState(node.number, node.depth, node.decisions, relaxed.bound, relaxed.duals)
        trials = Trials(self.bounds.parts, state, solved.objective, start.basis)
        with self.run.turn("branching") as turn:
            with skip_on_failure(self.run, type(choice).__name__, node):
                chosen = choice.choose(rule, solution, self.costs, trials)
                turn.gained = chosen is not None and bool(chosen.tried)  # the bounds of tried children are kept
                return chosen
            return choose_first(rule, solution)

    def _starts(self, chosen: Chosen, start: NodeStart, objective: float) -> list[NodeStart]:
        starts = []
        candidate = chosen.candidate
        for k in range(len(candidate.children)):
            tried = chosen.tried[k] if k < len(chosen.tried) else None
            basis = start.basis if tried is None or tried.basis is None else tried.basis
            change = (candidate.quantity, *candidate.moves[k], objective) if candidate.moves else None
            is_learnt = tried is not None and tried.exact
            starts.append(NodeStart(basis, start.bounding, None if is_learnt else change, self.seat))
        return starts

    def _learn(self, node: Node, relaxed: Bounded) -> None:
        """Update the pseudo-costs by how much worse a child is than its parent."""
        change = None if node.start is None else node.start.change
        if change is None or relaxed.solved is None or relaxed.solved.phase == 1:
            return
        if relaxed.outcome in (Outcome.SOLVED, Outcome.PRUNED):
            quantity, direction, distance, objective = change
            value = relaxed.solved.objective if relaxed.outcome is Outcome.SOLVED else relaxed.bound
            gain = self.run.sense.sign * (value - objective)
            self.costs.learn(quantity, direction, distance, max(gain, 0.0))

    def _branch_without_lp(self, node: Node, relaxed: Bounded, solution: Solution) -> Evaluation:
        """Branch on a solution of the relaxation that does not come from a linear program."""
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
                return Evaluation(relaxed.bound, "branched", children, NodeStart(None, relaxed.start, seat=self.seat))
        return Evaluation(relaxed.bound, "stuck", unresolved=Termination.NO_BRANCHING)

    def _proves_root(self, bound: float, duals: DualPoint) -> bool:
        """Return whether a bound of the root proves the incumbent optimal, for the relaxation if that is wanted."""
        run = self.run
        if run.incumbent is None or not run.is_checked or not run.prunes(bound):
            return False
        # Multiplicities limit integer solutions, not fractional ones.
        fractions = self.search.relaxation_only and isinstance(duals, Duals)
        return not (fractions and any(math.isfinite(oracle.multiplicity) for oracle in self.pricing))

    def is_solved(self, bound: float) -> bool:
        """Return whether the root relaxation has a solution that ``bound`` proves optimal."""
        return self.root is not None and self.run.meets(bound, self.root.objective)

    def _overuses(self, solved: MasterSolution) -> bool:
        """Return whether a solution uses more columns of some pricing problem than its multiplicity allows."""
        return self.master.rows is not None and self.master.rows.overuses(solved, self.pricing)

    def _certify(self, bound: float, duals: DualPoint) -> None:
        if isinstance(duals, Duals):
            self.certificate = Certificate(bound, duals.named())
            self._proved_by = duals

    def pool(self) -> Pool | None:
        return self.master.pool(self._proved_by)

    def _why_unresolved(self, node: Node, relaxed: Bounded) -> Termination | None:
        """Return why a node that ended in an integer solution is unresolved: its bound is weaker than the solution."""
        if self.run.meets(relaxed.bound, self.run.objective) or self.run.prunes(relaxed.bound):
            return None
        return self._note_weakness(node, relaxed)

    def _note_weakness(self, node: Node, relaxed: Bounded) -> Termination:
        """Add a note that names the oracles that leave a node without a proof."""
        if relaxed.weakness:
            self.run.notes.append(f"Node {node.number} is not proved: {relaxed.weakness}.")
        return Termination.NO_BOUND

    def _stopped_early(self, relaxed: Bounded, solved: MasterSolution) -> bool:
        return not self.run.meets(relaxed.bound, solved.objective)

    def _stopped_by_rounding(self, relaxed: Bounded, solved: MasterSolution) -> bool:
        """Return whether column generation stopped early because the rounded bound was decided."""
        solved_early = relaxed.outcome is Outcome.SOLVED and self._stopped_early(relaxed, solved)
        return self.run.step is not None and solved_early

    def _store_root(self, relaxed: Bounded) -> None:
        self.root_bound = relaxed.bound
        if relaxed.bound == self.master.sense.hopeless:
            return  # an infeasible relaxation has no solution
        pruned = self.search.relaxation_only and relaxed.outcome is Outcome.PRUNED
        if pruned and self._proves_root(relaxed.bound, relaxed.duals):
            self.root = self.run.incumbent  # the incumbent solves the relaxation
        elif relaxed.solved is not None and relaxed.solved.phase == 2:
            if not relaxed.solved.exchanging:  # otherwise it does not solve the relaxation
                self.root = self.master.solution(relaxed.solved)
        elif relaxed.solution is not None:
            self.root = relaxed.solution
        else:
            return
        self._certify(relaxed.bound, relaxed.duals)


def _with_fixed(node: Node, reduced: Node, evaluation: Evaluation) -> Evaluation:
    """Return the evaluation of a node as that of the node before a reduction."""
    return dataclasses.replace(evaluation, fixed=(*reduced.decisions[len(node.decisions) :], *evaluation.fixed))
