"""Heuristics that look for feasible solutions near the relaxation of a node."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from colgen.bounding.column_generation import column_generation
from colgen.bounding.protocol import Bounded, NodeState, Parts
from colgen.core.duals import Duals
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.heuristics import Heuristic, HeuristicContext, RestrictedMIP
from colgen.master.protocol import MasterSolution, is_integral
from colgen.pricing.calls import call_oracles, gather
from colgen.solvers.work import SECOND
from colgen.stabilization import NoStabilization
from colgen.tree.node import Node, skip_on_failure
from colgen.tree.node_bounds import GRACE, NodeBounds

_ATTEMPTS = 8
"""Maximum number of runs of the heuristics at a node that cannot be decided otherwise."""

_FIRST, _MORE = float(SECOND), 2.0
"""Work after which heuristics look for a solution where they do not apply, and its factor between two searches."""

_SHARE, _SHARE_TO_IMPROVE = 0.5, 0.1
"""Share of the work so far that all may do for a first solution, and that each may do for a better one."""

_LITTLE = 0.25
"""A heuristic whose limit is below this share of the work of its last call is not called for a better solution.

Steps of dives in large relaxations are long: with a limit of a second one took half a minute.
"""

_RANGE, _PART = 16.0, 0.5
"""Ratio of the largest to the smallest perturbation of dual values. In half of the calls half of the values are 0."""


class NodeHeuristics:
    """Runs the heuristics that apply at a node. One that fails is skipped with a note."""

    def __init__(self, heuristics: Sequence[Heuristic], parts: Parts, bounds: NodeBounds) -> None:
        self.heuristics, self._parts, self._bounds = heuristics, parts, bounds
        self.master, self.run, self.incumbents = parts.master, parts.run, bounds.incumbents
        self._search_at = _FIRST

    def apply(self, depth: int, quick: bool) -> bool:
        """Return whether any quick (or any slower) heuristic applies at a depth."""
        return any(heuristic.quick is quick and heuristic.applies(depth) for heuristic in self.heuristics)

    def between(self, node: NodeState, solved: MasterSolution) -> None:
        """Run the heuristics that are due between two rounds of column generation."""
        for heuristic in self.heuristics:
            if heuristic.is_due(self.run):
                solution = self.master.solution(solved) if solved.phase == 2 else Solution(self.run.sense.hopeless)
                self._run(heuristic, node, self._context(node, solution, math.nan))
        rounds = self.run.iterations
        converged = solved.phase == 2 and not solved.exchanging and bool(rounds) and not rounds[-1].new_columns
        if converged and self._is_needed and not is_integral(self.master, solved):  # rows may follow for long
            self._search([], node, self._context(node, self.master.solution(solved), self.run.global_bound))

    @property
    def _is_needed(self) -> bool:
        """Whether the work of the run has doubled since the last search for a solution where no heuristic applies."""
        return self.run.budget.allotment.total >= self._search_at

    def search(self, node: Node, solution: Solution, bound: float, quick: bool, attempt: int = 0) -> None:
        """Run the quick (or the slower) heuristics that apply at this depth, and others if they are needed."""
        chosen = [each for each in self.heuristics if each.quick is quick and each.applies(node.depth)]
        if attempt:
            chosen = [each for each in chosen if each.again]
        self._search(chosen, node, self._context(node, solution, bound, attempt))

    def _search(self, chosen: Sequence[Heuristic], node: Node | NodeState, context: HeuristicContext) -> None:
        """Run the chosen heuristics and those that are needed."""
        run, allotment = self.run, self.run.budget.allotment
        needed, lacked, last = self._is_needed, run.incumbent is None, (1.0 + _SHARE) * allotment.total
        for heuristic in self.heuristics:
            applies, lacks = heuristic in chosen, run.incumbent is None
            if run.expired or not (applies or (needed and heuristic.by_need and lacks is lacked)):
                continue
            if applies:
                work = math.inf if lacks or run.has_work_left(heuristic.name) else 0.0
            elif lacks:
                work = max(last - allotment.total, 0.0)
            else:
                work = self._work_to_improve(heuristic.name)
            if lacks or work > 0.0:
                self._run(heuristic, node, dataclasses.replace(context, work=work))
            if run.prunes(context.bound):
                return
        if needed:
            self._search_at = _MORE * allotment.total

    def _work_to_improve(self, name: str) -> float:
        """Return the work that a heuristic may do now for a better solution, 0 if that is little for it."""
        allotment = self.run.budget.allotment
        work = min(_SHARE_TO_IMPROVE * allotment.total, allotment.left_of_share(name))
        return work if work >= _LITTLE * allotment.last_work(name) else 0.0

    def _run(self, heuristic: Heuristic, node: Node | NodeState, context: HeuristicContext) -> None:
        """Run a heuristic, and offer what it finds."""
        before = self.run.objective
        with (
            self.run.turn("heuristics", heuristic.name) as turn,
            skip_on_failure(self.run, heuristic.name, node),
        ):
            found = heuristic.search(context)
            if found is not None and heuristic.joins:
                self.incumbents.offer_found(found, heuristic.name)
            elif found is not None:
                self.incumbents.offer(found, heuristic.name)
            turn.gained = self.run.objective != before

    def _context(self, node: Node | NodeState, solution: Solution, bound: float, attempt: int = 0) -> HeuristicContext:

        def regenerate(fixed: Mapping[Hashable, float], proper: str | None, rounds: int | None = None) -> Bounded:
            assert self.master.node is not None  # only masters that can fix columns get here
            pairs = self.master.node.fix(fixed, proper)
            proved = self.run.node_bound
            try:
                return column_generation(
                    NodeState(node.number, node.depth + 1, node.decisions, self.master.sense.ideal),
                    dataclasses.replace(
                        self._parts,  # solutions of a dive are not solutions of the node
                        stabilization=NoStabilization(),
                        settings=dataclasses.replace(
                            self._parts.settings,
                            stop_early=True,
                            round_early=True,
                            keep_duals=False,
                            keep_values=False,
                            rounds=rounds,
                            integral_only=True,
                        ),
                        context=lambda state: self._bounds.context(state, pairs),
                    ),
                )
            finally:  # even if interrupted: bounds of a dive hold only under its fixings
                self.run.node_bound = proved

        return HeuristicContext(
            self.master,
            solution,
            self.run,
            node.depth,
            regenerate,
            partial(self._price_perturbed, node),
            attempt,
            bound,
        )

    def search_again(self, node: Node, solution: Solution, bound: float) -> None:
        """Repeat the heuristics that allow it as long as they generate new columns."""
        if not any(heuristic.again and heuristic.applies(node.depth) for heuristic in self.heuristics):
            return
        for attempt in range(1, _ATTEMPTS):
            known = self.master.num_columns
            self.search(node, solution, bound, quick=False, attempt=attempt)
            if self.run.prunes(bound) or self.run.expired or self.master.num_columns == known:
                return

    def _price_perturbed(self, node: Node | NodeState, rng: np.random.Generator, scale: float) -> None:
        """Price once at perturbed dual values, and add all columns found."""
        duals = self._bounds.last_duals
        if not isinstance(duals, Duals):
            return
        noise = scale * _RANGE ** -rng.random()
        values = duals.values * np.maximum(1.0 + noise * rng.standard_normal(len(duals.values)), 0.0)
        if rng.random() < _PART:
            values[rng.random(len(values)) < _PART] = 0.0
        context = dataclasses.replace(self._bounds.pricing_context(node), provisional=True)
        varied = duals.replace(values)
        found = gather(call_oracles(self._parts.oracles, varied, context), varied)
        self.run.columns_generated += self.master.add(found.columns, (), found.origins)

    def round_off(self, node: Node, solved: MasterSolution, reason: Termination | None) -> None:
        """Look for a solution over the known columns when a limit ends a node, within the grace time."""
        run = self.run
        budget = run.budget
        integer = self.master.integer
        if solved.phase == 1 or integer is None:
            return
        with run.stage("heuristics"), skip_on_failure(run, "rounding", node):
            rounded = integer.round(self.master.solution(solved))
            if rounded is not None:
                self.incumbents.offer(rounded, "rounding")
        mip = next((h for h in self.heuristics if isinstance(h, RestrictedMIP)), None)
        if mip is None or run.incumbent is not None or (reason is not None and reason.is_interrupt):
            return
        # Without an incumbent, a limit of t seconds may take up to 1.05 t + 0.1; this is part of that.
        seconds = mip.seconds if run.seconds_left > 0.0 else GRACE * budget.seconds
        with run.stage("heuristics"), skip_on_failure(run, mip.name, node):
            found, _ = integer.solve(min(seconds, mip.seconds), None, lambda: budget.interrupted)
            if found is not None:
                self.incumbents.offer(found, mip.name)
