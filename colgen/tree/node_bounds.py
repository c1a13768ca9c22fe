"""The bound of a node: proved by its bounding, rounded exactly, and improved after reduced-cost fixing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
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
from colgen.core.numbers import require_result
from colgen.fixing import ReductionContext
from colgen.master.protocol import MasterSolution, RestrictedMaster, real_costs, switch
from colgen.pricing.oracles import PricingContext
from colgen.solvers.compiling import working_clock
from colgen.tree.incumbents import Incumbents
from colgen.tree.node import Node, check_against_incumbent, skip_on_failure
from colgen.tree.parts import Search

GRACE = 0.04
"""Share of the time limit by which a run may exceed it to find a first solution or a first bound."""


Between = Callable[[NodeState, MasterSolution], None]


class NodeBounds:
    """Bounds nodes over one restricted master. Each bounding starts at the dual values of the previous one."""

    def __init__(
        self, parts: Parts, search: Search, bounding: Bounding, incumbents: Incumbents, duals: DualPoint = None
    ) -> None:
        self._parts = parts
        self.search, self.bounding, self.incumbents = search, bounding, incumbents
        self.master, self.pricing, self.run = parts.master, parts.oracles, parts.run
        self._duals = duals
        self._last_proof: tuple[int, DualPoint, float] | None = None
        """A node, and the dual values at which its bound was last proved."""

    @cached_property
    def parts(self) -> Parts:
        """What a bounding method receives: the parts of the run, with the tree's context and incumbents."""
        # A bound method would create a reference cycle and keep the memory of the run until cycles are collected.
        context = functools.partial(_pricing_context, self.master, self.run)
        return dataclasses.replace(
            self._parts, context=context, found=self.incumbents.offer_master, take=self.incumbents.offer
        )

    @cached_property
    def _exact_parts(self) -> Parts:
        """The parts for a relaxation that is solved exactly, even if its rounded bound decides the node."""
        return dataclasses.replace(self.parts, settings=dataclasses.replace(self.parts.settings, round_early=False))

    def context(self, node: Node | NodeState, fixed: tuple[tuple[Column, float], ...] = ()) -> PricingContext:
        """Return the pricing context of a node. ``fixed`` holds the columns that a dive has fixed, and their values."""
        return _pricing_context(self.master, self.run, node, fixed)

    def price_guess(self, duals: DualPoint) -> Proved | None:
        """Price all oracles at guessed dual values before the first round. Return None if nothing can be priced.

        The round is recorded at the root, and solutions that oracles return are offered.
        """
        master, root = self.master, NodeState(bound=self.master.sense.ideal)
        context = self.context(root) if master.answers_late else self._extend_deadline(self.context(root))
        if context is None or (duals is None and master.holds_columns):
            return None
        clock = working_clock()
        found = prove(master, self.pricing, duals, context, self._parts.settings)
        for answer in found.answers:
            self.incumbents.offer_with_columns(answer, "an oracle")
        record(self.run, master, found, (0, 0), clock, self._parts.settings)
        self._duals, self._last_proof = found.duals, (0, found.duals, found.bound)
        self.record_proof(0, found.duals, found.bound)
        return found

    def estimate_scale(self) -> None:
        """Estimate the scale of the objective from the columns, before a linear program provides it.

        Without a scale, no value would count as near an optimum of zero.
        """
        master, run = self.master, self.run
        if not run.scale and master.holds_columns:
            with real_costs(master):
                run.scale = master.precision.scale

    def record_proof(
        self, node: NodeName, duals: DualPoint, bound: float, *, fixes: bool = False, costs_count: bool = True
    ) -> None:
        """Record what dual values prove of a node, if a certificate is wanted."""
        if self.search.witness is not None:
            self.search.witness.record(node, WitnessPoint(duals, bound, costs_count, fixes))

    def _extend_deadline(self, context: PricingContext) -> PricingContext | None:
        """Extend the deadline if a warm start has used all the time, to price its guess. Return None if too late."""
        if not self.run.expired:
            return context
        late = self.run.budget.extend(GRACE)
        return None if late.expired else dataclasses.replace(context, deadline=late.deadline, budget=late)

    def relax(self, node: Node, round_early: bool = True, between: Between | None = None) -> Bounded:
        """Return the bound of a node, as the oracles prove it. ``round_early``: stop when the rounded bound decides.

        ``between`` is called between two rounds of column generation.
        """
        parts = self.parts if round_early else self._exact_parts
        if between is not None:
            parts = dataclasses.replace(parts, between=between)
        known = self._last_proof
        state = NodeState(
            node.number,
            node.depth,
            node.decisions,
            node.bound,
            self._duals,
            node.start and node.start.bounding,
            known[2] if known is not None and known[0] == node.number and known[1] is self._duals else None,
        )
        with self.run.stage("bounding"):
            bounded = require_result(
                self.bounding.bound(state, parts), f"{type(self.bounding).__name__}.bound()", "a Bounded"
            )
        if not bounded.proved:
            bounded = self._prove(state, bounded)
        if bounded.duals is not None:
            self._duals = bounded.duals  # the next relaxation is similar
            self._last_proof = (node.number, bounded.duals, bounded.bound)
        self.record_proof(node.number, bounded.duals, bounded.bound)
        self.record_proof(node.number, bounded.ray, self.master.sense.ideal, costs_count=False)
        return bounded

    @property
    def last_duals(self) -> DualPoint:
        """The dual values of the last bound, where the next node starts."""
        return self._duals

    def set_duals(self, duals: DualPoint) -> None:
        """Start at dual values of another run, which may be given by blocks or by names of rows."""
        rows = self.master.rows
        self._duals = rows.guess(duals) if rows is not None and isinstance(duals, Mapping) else duals

    def add_priced(self, found: Proved) -> None:
        """Add the columns of a pricing round at guessed dual values."""
        if found.new:
            self.run.columns_generated += self.master.add(found.new.columns, (), found.new.origins)

    def _prove(self, state: NodeState, bounded: Bounded) -> Bounded:
        """Replace the claims of a bounding by the bound that the oracles prove at its last dual values."""
        master, run, clock = self.master, self.run, working_clock()
        nothing = dataclasses.replace(bounded, bound=master.sense.ideal, proved=True)
        if bounded.outcome in (Outcome.INFEASIBLE, Outcome.UNBOUNDED):
            return dataclasses.replace(nothing, outcome=Outcome.UNPROVED)
        if run.budget.interrupted:  # its dual values are not priced, so they prove nothing
            return dataclasses.replace(nothing, outcome=Outcome.STOPPED, duals=None)
        if bounded.duals is None and master.holds_columns:
            return nothing
        found = prove(master, self.pricing, bounded.duals, self.context(state), self.parts.settings)
        for answer in found.answers:
            self.incumbents.offer_with_columns(answer, "an oracle")
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
        """Return the bound of a node, rounded exactly if only the rounding tolerance keeps the node open."""
        run, bound = self.run, relaxed.bound
        if self.search.rounding is None or relaxed.duals is None or not run.grazes(bound):
            return bound
        try:
            with run.stage("rounding"):
                found = self.search.rounding(bound, relaxed.duals, self.pricing_context(node))
            sharp = require_result(found, "Method.rounding", "a bound")
        except OutOfBudget:
            return bound
        if run.sense.is_better(run.sense.round_bound(bound, run.step, 0.0), sharp):
            raise InvalidBoundError(
                f"Method.rounding returned {sharp:.10g} for node {node.number} of dual bound {bound:.10g}: expected "
                f"that bound or the next multiple of objective_step {run.step:g}"
            )
        check_against_incumbent(self.run, self.pricing, node, sharp)
        return run.sense.worst(sharp, bound)

    def reduce_and_solve(self, node: Node, relaxed: Bounded, between: Between) -> tuple[Node, Bounded]:
        """Fix by reduced cost and solve again, until no reduction applies; then with the cuts that waited for that.

        ``between`` is called between two rounds of column generation.
        """
        node, relaxed = self._reduce(node, relaxed, between)
        if self.run.cuts_wait:
            self.run.cuts_wait = False
            if relaxed.outcome is Outcome.SOLVED:
                node, relaxed = self._reduce(node, self._solve_again(node, relaxed, between), between)
        return node, relaxed

    def _reduce(self, node: Node, relaxed: Bounded, between: Between) -> tuple[Node, Bounded]:
        """Fix by reduced cost and solve again, until no reduction applies."""
        while self.search.reductions and relaxed.outcome is Outcome.SOLVED and self.run.incumbent is not None:
            context = self.reduction_context(node, relaxed)
            found: list[Decision] = []
            for reduction in self.search.reductions:
                name = type(reduction).__name__
                if not self.run.has_work_left("fixing"):
                    break
                with self.run.turn("fixing") as turn, skip_on_failure(self.run, name, node):
                    found += require_result(reduction.reduce(context), f"{name}.reduce()", "decisions, () for none")
                    turn.gained = bool(found)
            if not found:
                break
            self.record_proof(node.number, context.duals, context.bound, fixes=True)
            node = dataclasses.replace(node, path=node.path.below(found))
            with self.run.stage("master"):
                switch(self.master, node.decisions)
            relaxed = self._solve_again(node, relaxed, between)
        return node, relaxed

    def _solve_again(self, node: Node, relaxed: Bounded, between: Between) -> Bounded:
        """Return the bound of a node with more decisions or rows."""
        again = self.relax(node, round_early=False, between=between)
        if self.master.sense.is_better(relaxed.bound, again.bound):
            return again
        # The old bound holds for all better solutions, and is proved at the old duals.
        return dataclasses.replace(again, bound=relaxed.bound, duals=relaxed.duals)

    def reduction_context(self, node: Node, relaxed: Bounded) -> ReductionContext:
        """Return the context of reductions and enumeration: dual values, their bound, and the target."""
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

    def pricing_context(self, node: Node | NodeState) -> PricingContext:
        """Return the context for pricing again at the dual values of a node."""
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
