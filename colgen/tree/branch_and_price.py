"""Branch and price: column and row generation as the relaxation of a branch-and-bound tree."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

from colgen.bounds.checks import check_use, objects
from colgen.bounds.column_generation import Outcome, Relaxed, Settings, column_generation
from colgen.bounds.fixing import Reduction, ReductionContext
from colgen.bounds.run import Run
from colgen.bounds.stabilization import NoStabilization, Stabilization
from colgen.core.columns import Column
from colgen.core.decision import Decision, admits
from colgen.core.errors import BranchingError, InfeasibleAnswerError, InvalidBoundError, SolverError
from colgen.core.result import Certificate, Termination
from colgen.core.solution import Solution
from colgen.cuts.separation import Separation
from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
from colgen.pricing.oracles import Pricing, PricingContext
from colgen.tree.branching import BranchingRule
from colgen.tree.enumeration import Enumeration
from colgen.tree.heuristics import Heuristic, HeuristicContext, RestrictedMIP
from colgen.tree.search import Evaluation, Node, Relaxation
from solvers.linear import lp as programs

_LEAF = {
    Outcome.PRUNED: "pruned",
    Outcome.INFEASIBLE: "infeasible",
}


_FIRST_ROUNDING = 8
"""A run without an answer rounds a restricted master for the first time after so many rounds."""

_GRACE = 0.04
"""The share of its time limit that a run may take beyond it to find a first answer."""


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
        self._context = PricingContext(master.sense, deadline=run.deadline, budget=run.budget)
        self.root: Solution | None = None
        self.root_bound = master.sense.ideal
        self.certificate: Certificate | None = None
        self._waited = 0
        for rule in branching:
            rule.suit(master)

    def take(self, solution: Solution, source: str) -> bool:
        """Check a whole solution and offer it as the incumbent; False if a separation objects or it is no better."""
        solution = self.master.made_whole(solution)
        exact = self.master.objective_of(solution)
        if self.run.meets(exact, solution.objective) and self.run.meets(solution.objective, exact):
            solution = dataclasses.replace(solution, objective=exact)
        if objects(self.separation, solution):
            return False
        fault = self.master.violation(solution)
        taken = self.run.offer(solution, fault, source, checked=self.master.checks_rows)
        if taken:
            check_use(self.master, self.pricing, solution, source)
        return taken

    def _take_whole(self, solved: MasterSolution) -> bool:
        """Take a restricted master's whole solution; False if it is no answer after all.

        Values within the tolerance of whole numbers need not satisfy the rows once they are whole.
        """
        solution = self.master.made_whole(self.master.solution(solved))
        if self.master.violation(solution) is not None and self.master.violation(solution, exact=False) is None:
            return False
        self.take(solution, "the relaxation")
        return True

    def _found(self, solved: MasterSolution) -> None:
        """A restricted master on the way: if it is whole, it is an answer."""
        run = self.run
        if self.relaxation_only or not run.sense.is_better(solved.objective, run.objective):
            return
        if self.master.is_whole(solved):
            with contextlib.suppress(InfeasibleAnswerError):  # columns that are still to come may bring rows and costs
                self._take_whole(solved)
        elif run.incumbent is None and self.heuristics and self.master.solves_integers:
            self._waited += 1
            if self._waited >= _FIRST_ROUNDING and self._waited.bit_count() == 1:  # ever more seldom
                rounded = self.master.rounded(self.master.solution(solved))
                if rounded is not None:
                    self.take(rounded, "rounding")

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
            missing = None if stop else self._unproved(node, relaxed)
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
            self._found,
        )
        if relaxed.duals is not None:
            self._centre = relaxed.duals  # the next relaxation is not far from this one
        return relaxed

    def _reduce(self, node: Node, relaxed: Relaxed) -> tuple[Node, Relaxed]:
        """Fix by reduced cost and solve again, until nothing worth it is left to fix."""
        while self.reductions and relaxed.outcome is Outcome.SOLVED and self.run.incumbent is not None:
            context = self._proved_at(node, relaxed)
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

    def _proved_at(self, node: Node, relaxed: Relaxed) -> ReductionContext:
        run = self.run
        return ReductionContext(
            run.sense, relaxed.duals, relaxed.bound, run.target, node.decisions, run.scale, run.budget
        )

    def _enumerate(self, node: Node, relaxed: Relaxed) -> Evaluation | None:
        """Close the node by a mixed-integer program over all columns that matter in it, if they can be listed."""
        master, run = self.master, self.run
        incumbent = run.incumbent
        if self.enumeration is None or incumbent is None or not master.solves_integers:
            return None
        if relaxed.outcome is not Outcome.SOLVED or run.expired:
            return None
        with run.stage("enumeration"), self._sparing(self.enumeration.name, node):
            found = self.enumeration.enumerate(self._proved_at(node, relaxed))
            if found is None:
                return None
            target = run.target
            status, solution = master.solve_over(
                found.columns,
                found.sides,
                target,
                min(self.enumeration.seconds, run.seconds_left),
                any_will_do=not master.sense.is_better(run.round_bound(relaxed.bound), target),
                stopped=lambda: run.expired,
            )
            if status is MasterStatus.INFEASIBLE:  # the node holds nothing better than the incumbent
                return Evaluation(master.sense.hopeless, "enumerated")
            completed = None if solution is None else self.enumeration.complete(solution)
            if completed is not None and run.meets(target, completed.objective):
                self.take(completed, self.enumeration.name)
                if status is MasterStatus.OPTIMAL and completed is solution:
                    return Evaluation(solution.objective, "enumerated")
            return Evaluation(relaxed.bound, "pruned") if run.prunes(relaxed.bound) else None
        return None

    def _branch(self, node: Node, relaxed: Relaxed, solved: MasterSolution) -> Evaluation:
        """What to do with a solved relaxation: take it if it is whole, else look for answers near it and split it."""
        solution = self.master.solution(solved)
        solved_exactly = relaxed.outcome is Outcome.SOLVED and not self._stopped_early(relaxed, solved)
        exact = solved.objective if solved_exactly and not self.master.overuses(solved, self.pricing) else None
        unresolved = self._unproved(node, relaxed) if relaxed.outcome is Outcome.UNPROVED else None
        if self.relaxation_only:  # "optimal" is then said of the relaxation
            if self.master.overuses(solved, self.pricing):  # its bound speaks of answers, which use fewer columns
                relaxed = dataclasses.replace(relaxed, bound=self.run.sense.best(relaxed.bound, solved.objective))
            met = not self._stopped_early(relaxed, solved)  # not so where an oracle's bound is a relaxation's
            unresolved = unresolved or (Termination.OPTIMAL if met else self._unproved(node, relaxed))
            return Evaluation(relaxed.bound, "solved", unresolved=unresolved, stop=relaxed.termination)
        if relaxed.outcome is Outcome.STOPPED:
            self._round_off(node, solved, relaxed.termination)
            return Evaluation(relaxed.bound, "stopped", stop=relaxed.termination)
        if self.master.is_whole(solved) and self._take_whole(solved):
            # If column generation stopped early, an answer better than this one may be hidden in the rounding:
            # there is none whose rounded objective is better, and that is what the bound says.
            return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
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
                if not (
                    self.run.meets(recovered.objective, solution.objective)
                    and self.run.meets(solution.objective, recovered.objective)
                ):
                    raise BranchingError(
                        f"{type(rule).__name__}.recover returned a solution of objective {recovered.objective:g} for "
                        f"a relaxation of {solution.objective:g}"
                    )
                self.take(recovered, f"{type(rule).__name__}.recover")
                return Evaluation(relaxed.bound, "whole", exact=exact, unresolved=self._open(node, relaxed))
        if unresolved is None and relaxed.weakness and self._stopped_early(relaxed, solved):
            unresolved = self._unproved(node, relaxed)  # not even its relaxation is
        return Evaluation(relaxed.bound, "stuck", exact=exact, unresolved=unresolved or Termination.NO_BRANCHING)

    def _open(self, node: Node, relaxed: Relaxed) -> Termination | None:
        """Why a node that ended in a whole solution is unresolved: its bound proves less than the solution is worth."""
        if self.run.meets(relaxed.bound, self.run.objective) or self.run.prunes(relaxed.bound):
            return None
        return self._unproved(node, relaxed)

    def _unproved(self, node: Node, relaxed: Relaxed) -> Termination:
        """Say which oracles leave a node without a proof."""
        if relaxed.weakness:
            self.run.notes.append(f"Node {node.number} is not proved: {relaxed.weakness}.")
        return Termination.NO_BOUND

    def _stopped_early(self, relaxed: Relaxed, solved: MasterSolution) -> bool:
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
                self.take(rounded, "rounding")
        mip = next((h for h in self.heuristics if isinstance(h, RestrictedMIP)), None)
        if mip is None or run.incumbent is not None or reason is Termination.INTERRUPTED:
            return
        # Nothing is known yet: a limit of t seconds ends within 1.05 t + 0.1, and this takes a part of that.
        seconds = mip.seconds if run.seconds_left > 0.0 else _GRACE * budget.seconds
        with run.stage("heuristics"), self._sparing(mip.name, node):
            found, _ = self.master.solve_integer(min(seconds, mip.seconds), None, lambda: budget.interrupted)
            if found is not None:
                self.take(found, mip.name)

    @contextlib.contextmanager
    def _sparing(self, name: str, node: Node) -> Iterator[None]:
        """Let the run go on where something fails that it can do without, and say so."""
        try:
            yield
        except (SolverError, programs.SolverError, ArithmeticError, MemoryError) as error:
            self.run.notes.append(f"{name} failed at node {node.number} and was skipped: {error}.")

    def _in_node(self, node: Node, fixed: tuple[tuple[Column, float], ...] = ()) -> PricingContext:
        context = self._context
        return PricingContext(
            context.sense,
            decisions=node.decisions,
            fixed=fixed,
            deadline=context.deadline,
            budget=context.budget,
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
                    dataclasses.replace(self.settings, stop_early=True, round_early=True, keep_duals=False),
                    (node.number, node.depth + 1),
                )
            finally:  # also if interrupted: what a dive proves holds under its fixings only
                self.run.node_bound = proved

        context = HeuristicContext(self.master, solution, self.run, node.depth, regenerate)
        for heuristic in self.heuristics:
            if heuristic.quick is not quick or not heuristic.applies(node.depth) or self.run.expired:
                continue
            with self.run.stage("heuristics"), self._sparing(heuristic.name, node):
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
        named = None if relaxed.duals is None else self.master.named(relaxed.duals)
        if named is not None:
            self.certificate = Certificate(relaxed.bound, named)

    # --- checks ------------------------------------------------------------------------------------------------------

    def _check_against_incumbent(self, node: Node, relaxed: Relaxed) -> None:
        """A node's bound must not exclude an answer that we hold in our hands."""
        incumbent = self.run.incumbent
        if incumbent is None or not all(decision.exhaustive for decision in node.decisions):
            return
        if not self.run.meets(incumbent.objective, relaxed.bound) and admits(node.decisions, incumbent):
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
