"""Branch and price: column and row generation as the relaxation of a branch-and-bound tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from colgen.branching import BranchingRule, Decision, admits
from colgen.columns import Column
from colgen.engine import Outcome, Relaxed, Settings, column_generation
from colgen.enumeration import Enumeration, solve_over
from colgen.errors import BranchingError, InvalidBoundError
from colgen.heuristics import Heuristic, HeuristicContext
from colgen.linear_master import LinearMaster
from colgen.master import MasterSolution, RestrictedMaster
from colgen.pricing import Pricing, PricingContext
from colgen.reduction import Reduction, ReductionContext
from colgen.result import Certificate, Termination
from colgen.run import Run
from colgen.separation import Separation
from colgen.solution import Solution
from colgen.stabilization import NoStabilization, Stabilization
from colgen.tree import Evaluation, Node, Relaxation
from solvers.lp import LPStatus

_LEAF = {
    Outcome.PRUNED: "pruned",
    Outcome.INFEASIBLE: "infeasible",
}


class BranchAndPrice(Relaxation):
    """Evaluates nodes by column generation over one restricted master that is switched from node to node.

    Columns stay in the master from node to node: those that a node's decisions forbid are switched off there.
    """

    def __init__(
        self,
        master: RestrictedMaster,
        pricing: Sequence[Pricing],
        separation: Sequence[Separation],
        branching: Sequence[BranchingRule],
        reductions: Sequence[Reduction],
        enumeration: Enumeration | None,
        heuristics: Sequence[Heuristic],
        stabilization: Stabilization,
        run: Run,
        settings: Settings,
        tolerance: float,
        relaxation_only: bool = False,
        centre: Any = None,
    ) -> None:
        self.master = master
        self.pricing = pricing
        self.separation = separation
        self.branching = branching
        self.reductions = reductions
        self.enumeration = enumeration
        self.heuristics = heuristics
        self.stabilization = stabilization
        self.run = run
        self.settings = settings
        self.relaxation_only = relaxation_only
        self._centre = centre
        self._context = PricingContext(master.sense, deadline=run.deadline, tolerance=tolerance)
        self.root: Solution | None = None
        self.root_bound = master.sense.ideal
        self.certificate: Certificate | None = None

    def take(self, solution: Solution, source: str) -> bool:
        """Check a whole solution and offer it as the incumbent; False if a separation objects or it is no better."""
        solution = self.master.made_whole(solution)
        exact = self.master.objective_of(solution)
        if abs(exact - solution.objective) <= 1e-6 * max(1.0, abs(exact)):
            solution = dataclasses.replace(solution, objective=exact)
        if any(separator.separate(solution) for separator in self.separation):
            return False
        fault = self.master.violation(solution) if isinstance(self.master, LinearMaster) else None
        return self.run.offer(solution, fault, source)

    def evaluate(self, node: Node) -> Evaluation:
        self.master.apply(node.decisions)
        if node.start is not None:
            self.master.restore(node.start)
        relaxed = self._relax(node)
        self._check_against_incumbent(node, relaxed)
        if node.number == 0:
            self._keep_root(relaxed)
        if relaxed.outcome is Outcome.SOLVED and relaxed.solved is not None and not self.relaxation_only:
            self._search(node, self.master.solution(relaxed.solved), relaxed.bound, quick=True)
            if self.run.prunes(relaxed.bound):
                return Evaluation(relaxed.bound, "pruned")
            early = self._stopped_early(relaxed, relaxed.solved)
            if early and (self.reductions or self.enumeration is not None):
                # They feed on the last bit of the bound, which a rounded value did not need.
                relaxed = self._relax(node, round_early=False)
                self._check_against_incumbent(node, relaxed)
                if node.number == 0:
                    self._keep_root(relaxed)
            reduced, relaxed = self._reduce(node, relaxed)
            fixed = reduced.decisions[len(node.decisions) :]
            return dataclasses.replace(self._judge(reduced, relaxed), fixed=fixed)
        return self._judge(node, relaxed)

    def _judge(self, node: Node, relaxed: Relaxed) -> Evaluation:
        """What becomes of a node whose relaxation has been treated."""
        if relaxed.outcome in _LEAF:
            return Evaluation(relaxed.bound, _LEAF[relaxed.outcome])
        if relaxed.outcome is Outcome.UNBOUNDED:
            return Evaluation(relaxed.bound, "unbounded", stop=Termination.UNBOUNDED)
        solved = relaxed.solved
        if solved is None or solved.phase == 1:
            stop = relaxed.termination
            missing = None if stop else Termination.NO_BOUND
            return Evaluation(relaxed.bound, "stopped", unresolved=missing, stop=stop)
        return self._branch(node, relaxed, solved)

    def _relax(self, node: Node, round_early: bool = True) -> Relaxed:
        relaxed = column_generation(
            self.master,
            self.pricing,
            self.separation,
            self.stabilization,
            self.run,
            self._in_node(node),
            dataclasses.replace(self.settings, round_early=round_early and self.settings.round_early),
            (node.number, node.depth),
            self._centre,
        )
        if relaxed.duals is not None:
            self._centre = relaxed.duals  # the next relaxation is not far from this one
        return relaxed

    def _reduce(self, node: Node, relaxed: Relaxed) -> tuple[Node, Relaxed]:
        """Fix by reduced cost and solve again, until nothing worth it is left to fix."""
        while self.reductions and relaxed.outcome is Outcome.SOLVED and self.run.incumbent is not None:
            context = ReductionContext(self.master.sense, relaxed.duals, relaxed.bound, self.run.target, node.decisions)
            found = [decision for reduction in self.reductions for decision in reduction.reduce(context)]
            if not found:
                break
            node = dataclasses.replace(node, decisions=(*node.decisions, *found))
            self.master.apply(node.decisions)
            again = self._relax(node, round_early=False)
            if self.master.sense.is_better(relaxed.bound, again.bound):
                relaxed = again
            else:  # the former bound still holds for all answers of interest, and it was proved at the former duals
                relaxed = dataclasses.replace(again, bound=relaxed.bound, duals=relaxed.duals)
        return node, relaxed

    def _enumerate(self, node: Node, relaxed: Relaxed) -> Evaluation | None:
        """Close the node by a mixed-integer program over all columns that matter in it, if they can be listed."""
        master, run = self.master, self.run
        incumbent = run.incumbent
        if self.enumeration is None or incumbent is None or not isinstance(master, LinearMaster):
            return None
        if relaxed.outcome is not Outcome.SOLVED:
            return None
        with run.stage("enumeration"):
            found = self.enumeration.enumerate(
                ReductionContext(master.sense, relaxed.duals, relaxed.bound, run.target, node.decisions)
            )
            if found is None:
                return None
            target = run.target
            status, solution = solve_over(
                master,
                found.columns,
                found.sides,
                target,
                min(self.enumeration.seconds, run.seconds_left),
                any_will_do=not master.sense.is_better(run.round_bound(relaxed.bound), target),
            )
            if status is LPStatus.INFEASIBLE:  # the node holds nothing better than the incumbent
                return Evaluation(master.sense.hopeless, "enumerated")
            completed = None if solution is None else self.enumeration.complete(solution)
            if completed is not None and not master.sense.is_better(target, completed.objective, 1e-6):
                self.take(completed, self.enumeration.name)
                if status is LPStatus.OPTIMAL and completed is solution:
                    return Evaluation(solution.objective, "enumerated")
            return Evaluation(relaxed.bound, "pruned") if run.prunes(relaxed.bound) else None

    def _branch(self, node: Node, relaxed: Relaxed, solved: MasterSolution) -> Evaluation:
        """What to do with a solved relaxation: take it if it is whole, else look for answers near it and split it."""
        solution = self.master.solution(solved)
        solved_exactly = relaxed.outcome is Outcome.SOLVED and not self._stopped_early(relaxed, solved)
        exact = solved.objective if solved_exactly else None
        unresolved = Termination.NO_BOUND if relaxed.outcome is Outcome.UNPROVED else None
        if self.relaxation_only:  # "optimal" is then said of the relaxation
            met = not self._stopped_early(relaxed, solved)  # not so where an oracle's bound is a relaxation's
            unresolved = unresolved or (Termination.OPTIMAL if met else Termination.NO_BOUND)
            return Evaluation(relaxed.bound, "solved", unresolved=unresolved, stop=relaxed.termination)
        if self.master.is_whole(solved):
            self.take(solution, "the relaxation")
            if relaxed.outcome is not Outcome.STOPPED:
                # If column generation stopped early, an answer better than this one may be hidden in the rounding:
                # there is none whose rounded objective is better, and that is what the bound says.
                return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(relaxed.bound))
        if relaxed.outcome is Outcome.STOPPED:
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination)
        closed = self._enumerate(node, relaxed)
        if closed is not None:
            return closed
        start = self.master.basis()
        self._search(node, solution, relaxed.bound, quick=False)
        if self.run.prunes(relaxed.bound):
            return Evaluation(relaxed.bound, "pruned", exact=exact)
        for rule in self.branching:
            children = rule.branch(solution)
            if children:
                self._check_children(rule, node, children, solution)
                return Evaluation(relaxed.bound, "branched", children, start, exact, None)
        for rule in self.branching:
            recovered = rule.recover(solution)
            if recovered is not None:
                if abs(recovered.objective - solution.objective) > 1e-6 * max(1.0, abs(solution.objective)):
                    raise BranchingError(
                        f"{type(rule).__name__}.recover returned a solution of objective {recovered.objective:g} for "
                        f"a relaxation of {solution.objective:g}"
                    )
                self.take(recovered, f"{type(rule).__name__}.recover")
                return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(relaxed.bound))
        return Evaluation(relaxed.bound, "stuck", exact=exact, unresolved=unresolved or Termination.NO_BRANCHING)

    def _open(self, bound: float) -> Termination | None:
        """Why a node that ended in a whole solution is unresolved: its bound proves less than the solution is worth."""
        objective = self.run.objective
        met = abs(bound - objective) <= 1e-6 * max(1.0, abs(objective))
        return None if met or self.run.prunes(bound) else Termination.NO_BOUND

    def _stopped_early(self, relaxed: Relaxed, solved: MasterSolution) -> bool:
        gain = self.master.sense.improvement(relaxed.bound, solved.objective)
        return gain > 1e-6 * max(1.0, abs(solved.objective))

    def _in_node(self, node: Node, fixed: tuple[tuple[Column, float], ...] = ()) -> PricingContext:
        context = self._context
        return PricingContext(
            context.sense,
            decisions=node.decisions,
            fixed=fixed,
            deadline=context.deadline,
            tolerance=context.tolerance,
            pricing_out=self.master.reduced_costs,
        )

    # --- answers -----------------------------------------------------------------------------------------------------

    def _search(self, node: Node, solution: Solution, bound: float, quick: bool) -> None:
        """Run the quick heuristics, or the others, that apply at this depth."""

        def regenerate(fixed: Mapping[Hashable, float], proper: str | None) -> Relaxed:
            self.master.fix(fixed, proper)
            pairs = tuple((self.master.find(identity), value) for identity, value in fixed.items())
            proved = self.run.node_bound
            try:
                return column_generation(
                    self.master,
                    self.pricing,
                    self.separation,
                    NoStabilization(),
                    self.run,
                    self._in_node(node, pairs),
                    Settings(stop_early=True),
                    (node.number, node.depth + 1),
                )
            finally:  # also if interrupted: what a dive proves holds under its fixings only
                self.run.node_bound = proved

        context = HeuristicContext(self.master, solution, self.run, node.depth, regenerate)
        for heuristic in self.heuristics:
            if heuristic.quick is not quick or not heuristic.applies(node.depth) or self.run.expired:
                continue
            with self.run.stage("heuristics"):
                found = heuristic.search(context)
            if found is not None:
                self.take(found, heuristic.name)
            if self.run.prunes(bound):
                return

    def _keep_root(self, relaxed: Relaxed) -> None:
        self.root_bound = relaxed.bound
        if relaxed.solved is None or relaxed.solved.phase == 1:
            return
        self.root = self.master.solution(relaxed.solved)
        if isinstance(self.master, LinearMaster) and relaxed.duals is not None:
            named = dict(zip(self.master.names.keys, relaxed.duals.values.tolist(), strict=False))
            self.certificate = Certificate(relaxed.bound, named)

    # --- checks ------------------------------------------------------------------------------------------------------

    def _check_against_incumbent(self, node: Node, relaxed: Relaxed) -> None:
        """A node's bound must not exclude an answer that we hold in our hands."""
        incumbent, sense = self.run.incumbent, self.master.sense
        if incumbent is None or not all(decision.exhaustive for decision in node.decisions):
            return
        slack = 1e-6 * max(1.0, abs(incumbent.objective))
        if sense.is_better(incumbent.objective, relaxed.bound, slack) and admits(node.decisions, incumbent):
            raise InvalidBoundError(
                f"node {node.number} has the dual bound {relaxed.bound:g}, but the incumbent of objective "
                f"{incumbent.objective:g} lies in it: a bound stated by "
                f"{', '.join(oracle.name for oracle in self.pricing)} is not valid"
            )

    def _check_children(
        self, rule: BranchingRule, node: Node, children: Sequence[Sequence[Decision]], solution: Solution
    ) -> None:
        for decisions in children:
            if admits(decisions, solution):
                raise BranchingError(
                    f"{type(rule).__name__} returned a child of node {node.number} that does not cut off its "
                    "relaxation, so that it would be repeated for ever: "
                    f"{', '.join(map(str, decisions)) or 'no decision at all'}"
                )
