"""The bound of a node: proved by whatever bounds it, rounded exactly, and again after fixing by reduced cost."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from functools import cached_property

from colgen.bounding.guesses import Proved, guess_context, prove, record
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.bounding.run import Run
from colgen.certificate.witness import NodeName, WitnessPoint
from colgen.core.budget import OutOfBudget
from colgen.core.columns import Column
from colgen.core.decision import Decision
from colgen.core.duals import DualPoint
from colgen.core.errors import InvalidBoundError
from colgen.core.numbers import returned
from colgen.fixing import ReductionContext
from colgen.master.protocol import RestrictedMaster, real_costs, switch
from colgen.pricing.oracles import PricingContext
from colgen.solvers.compiling import working_clock
from colgen.tree.incumbents import Answers
from colgen.tree.node import Node, check_against_incumbent, sparing
from colgen.tree.parts import Search

GRACE = 0.04
"""The share of its time limit that a run may take beyond it to find a first answer, or a first bound."""


class NodeBounds:
    """Bounds nodes, one after the other, over one restricted master; each begins with the dual values of the last."""

    def __init__(
        self, parts: Parts, search: Search, bounding: Bounding, answers: Answers, duals: DualPoint = None
    ) -> None:
        self._parts = parts
        self.search, self.bounding, self.answers = search, bounding, answers
        self.master, self.pricing, self.run = parts.master, parts.oracles, parts.run
        self._duals = duals
        self._known: tuple[int, DualPoint, float] | None = None
        """A node, and the dual values at which its bound was last proved."""

    @cached_property
    def parts(self) -> Parts:
        """What boundings work with."""
        # Not a method of this object's: what is kept here would refer back to it, and a run's memory, all scores of a
        # large instance, would wait for the collector of cycles.
        context = functools.partial(_pricing_context, self.master, self.run)
        return dataclasses.replace(self._parts, context=context, found=self.answers.look_at, take=self.answers.take)

    @cached_property
    def _parts_to_the_end(self) -> Parts:
        """The same for a relaxation that is wanted to its last bit, also where its rounded value decides."""
        return dataclasses.replace(self.parts, settings=dataclasses.replace(self.parts.settings, round_early=False))

    def context(self, node: Node | NodeState, fixed: tuple[tuple[Column, float], ...] = ()) -> PricingContext:
        """What oracles are told in a node; ``fixed``: columns that a dive has fixed, and their values."""
        return _pricing_context(self.master, self.run, node, fixed)

    def guessed(self, duals: DualPoint) -> Proved | None:
        """Price all oracles once at guessed dual values, before the first round; None where there is nothing to price.

        The round is on the root's record, and answers that oracles return are taken in.
        """
        master, root = self.master, NodeState(bound=self.master.sense.ideal)
        context = self.context(root) if master.answers_late else self._in_grace(self.context(root))
        if context is None or (duals is None and master.holds_columns):
            return None
        clock = working_clock()
        found = prove(master, self.pricing, duals, context, self._parts.settings)
        for answer in found.answers:
            self.answers.take_with_columns(answer, "an oracle")
        record(self.run, master, found, (0, 0), clock, self._parts.settings)
        self._duals, self._known = found.duals, (0, found.duals, found.bound)
        self.testify(0, found.duals, found.bound)
        return found

    def size_up(self) -> None:
        """Learn from the columns what differences are relative to, before a linear program says so, or where none does.

        Nothing would be near an optimum of zero.
        """
        master, run = self.master, self.run
        if not run.scale and master.holds_columns:
            with real_costs(master):
                run.scale = master.precision.scale

    def testify(
        self, node: NodeName, duals: DualPoint, bound: float, *, fixes: bool = False, costs_count: bool = True
    ) -> None:
        """Let it be written down what dual values prove of a node, if a certificate is wanted."""
        if self.search.witness is not None:
            self.search.witness.saw(node, WitnessPoint(duals, bound, costs_count, fixes))

    def _in_grace(self, context: PricingContext) -> PricingContext | None:
        """The same where a warm start has spent all the time: its guess is priced once; None if that is too late."""
        if not self.run.expired:
            return context
        late = self.run.budget.late(GRACE)
        return None if late.expired else dataclasses.replace(context, deadline=late.deadline, budget=late)

    def relax(self, node: Node, round_early: bool = True) -> Bounded:
        """The bound of a node, as the oracles prove it; ``round_early``: rounding may decide before the end."""
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
        bounded = returned(self.bounding.bound(state, parts), f"{type(self.bounding).__name__}.bound()", "a Bounded")
        if not bounded.proved:
            bounded = self._prove(state, bounded)
        if bounded.duals is not None:
            self._duals = bounded.duals  # the next relaxation is not far from this one
            self._known = (node.number, bounded.duals, bounded.bound)
        self.testify(node.number, bounded.duals, bounded.bound)
        self.testify(node.number, bounded.ray, self.master.sense.ideal, costs_count=False)
        return bounded

    @property
    def last_duals(self) -> DualPoint:
        """Where the last bound was proved: the next node begins there."""
        return self._duals

    def begin_near(self, duals: DualPoint) -> None:
        """Begin with these dual values, of another run: as they are, or by blocks or names of rows."""
        rows = self.master.rows
        self._duals = rows.guess(duals) if rows is not None and isinstance(duals, Mapping) else duals

    def add_priced(self, found: Proved) -> None:
        """Keep the columns that a round at guessed dual values has priced."""
        if found.new:
            self.run.columns_generated += self.master.add(found.new.columns, (), found.new.origins)

    def _prove(self, state: NodeState, bounded: Bounded) -> Bounded:
        """What the oracles prove at the dual values that a bounding ended with: that is believed, not its own word."""
        master, run, clock = self.master, self.run, working_clock()
        nothing = dataclasses.replace(bounded, bound=master.sense.ideal, proved=True)
        if bounded.outcome in (Outcome.INFEASIBLE, Outcome.UNBOUNDED):
            return dataclasses.replace(nothing, outcome=Outcome.UNPROVED)
        if run.budget.interrupted:  # nobody has priced at its dual values, which prove nothing then
            return dataclasses.replace(nothing, outcome=Outcome.STOPPED, duals=None)
        if bounded.duals is None and master.holds_columns:
            return nothing
        found = prove(master, self.pricing, bounded.duals, self.context(state), self.parts.settings)
        for answer in found.answers:
            self.answers.take_with_columns(answer, "an oracle")
        record(run, master, found, (state.number, state.depth), clock, self.parts.settings)
        self.add_priced(found)
        outcome = bounded.outcome
        if run.prunes(found.bound):
            outcome = Outcome.PRUNED
        elif outcome is Outcome.PRUNED:
            outcome = Outcome.UNPROVED
        solution = found.relaxed if bounded.solution is None else bounded.solution
        return dataclasses.replace(nothing, outcome=outcome, bound=found.bound, duals=found.duals, solution=solution)

    def round_exactly(self, node: Node, relaxed: Bounded) -> float:
        """Return a node's bound, rounded exactly where only the tolerance of rounding keeps the node open."""
        run, bound = self.run, relaxed.bound
        if self.search.rounding is None or relaxed.duals is None or not run.grazes(bound):
            return bound
        try:
            found = self.search.rounding(bound, relaxed.duals, self.pricing_context(node))
            sharp = returned(found, "Method.rounding", "a bound")
        except OutOfBudget:
            return bound
        if run.sense.is_better(run.sense.round_bound(bound, run.step, 0.0), sharp):
            raise InvalidBoundError(
                f"rounding states {sharp:.10g} for node {node.number}, whose dual bound is {bound:.10g}: expected that "
                f"bound, or the next multiple of objective_step {run.step:g}"
            )
        check_against_incumbent(self.run, self.pricing, node, sharp)
        return run.sense.worst(sharp, bound)

    def reduced(self, node: Node, relaxed: Bounded) -> tuple[Node, Bounded]:
        """Fix by reduced cost and solve again, until nothing worth it is left to fix."""
        while self.search.reductions and relaxed.outcome is Outcome.SOLVED and self.run.incumbent is not None:
            context = self.proved_at(node, relaxed)
            found: list[Decision] = []
            for reduction in self.search.reductions:
                with sparing(self.run, type(reduction).__name__, node):
                    name = f"{type(reduction).__name__}.reduce()"
                    found += returned(reduction.reduce(context), name, "decisions, () for none")
            if not found:
                break
            self.testify(node.number, context.duals, context.bound, fixes=True)
            node = dataclasses.replace(node, path=node.path.below(found))
            switch(self.master, node.decisions)
            again = self.relax(node, round_early=False)
            if self.master.sense.is_better(relaxed.bound, again.bound):
                relaxed = again
            else:  # the former bound still holds for all answers of interest, and it was proved at the former duals
                relaxed = dataclasses.replace(again, bound=relaxed.bound, duals=relaxed.duals)
        return node, relaxed

    def proved_at(self, node: Node, relaxed: Bounded) -> ReductionContext:
        """What reductions and enumeration are told: dual values, the bound proved there, and what is looked for."""
        run = self.run
        return ReductionContext(
            run.sense,
            relaxed.duals,
            relaxed.bound,
            run.target,
            node.decisions,
            run.scale,
            run.budget,
            self.pricing_context(node),
        )

    def pricing_context(self, node: Node) -> PricingContext:
        """What oracles are told where a node's dual values are looked at once more."""
        return guess_context(self.master, self.context(node), self.parts.settings)


def _pricing_context(
    master: RestrictedMaster, run: Run, node: Node | NodeState, fixed: tuple[tuple[Column, float], ...] = ()
) -> PricingContext:
    return PricingContext(
        master.sense,
        decisions=node.decisions,
        fixed=fixed,
        deadline=run.deadline,
        budget=run.budget,
        price=master.price,
    )
