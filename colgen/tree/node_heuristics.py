"""Answers looked for near the relaxation of a node."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from colgen.bounding.column_generation import column_generation
from colgen.bounding.protocol import Bounded, NodeState, Parts
from colgen.core.duals import Duals
from colgen.core.result import Termination
from colgen.core.solution import Solution
from colgen.heuristics import Heuristic, HeuristicContext, RestrictedMIP
from colgen.master.protocol import MasterSolution
from colgen.pricing.calls import call_oracles, gather
from colgen.stabilization import NoStabilization
from colgen.tree.node import Node, sparing
from colgen.tree.node_bounds import GRACE, NodeBounds

_ATTEMPTS = 8
"""So often, at most, are heuristics run at a node that nothing else would decide."""

_RANGE, _PART = 16.0, 0.5
"""Between the largest perturbation of dual values and the least; every other time so many of them are zero."""


class NodeHeuristics:
    """Runs the heuristics that apply at a node; one that fails is skipped, with a note."""

    def __init__(self, heuristics: Sequence[Heuristic], parts: Parts, bounds: NodeBounds) -> None:
        self.heuristics, self._parts, self._bounds = heuristics, parts, bounds
        self.master, self.run, self.answers = parts.master, parts.run, bounds.answers

    def apply(self, depth: int, quick: bool) -> bool:
        """Whether any quick one, or any that takes its time, applies at a depth."""
        return any(heuristic.quick is quick and heuristic.applies(depth) for heuristic in self.heuristics)

    def search(self, node: Node, solution: Solution, bound: float, quick: bool, attempt: int = 0) -> None:
        """Run the quick heuristics, or the others, that apply at this depth."""

        def regenerate(fixed: Mapping[Hashable, float], proper: str | None, rounds: int | None = None) -> Bounded:
            assert self.master.node is not None  # heuristics that fix columns are for masters that can
            pairs = self.master.node.fix(fixed, proper)
            proved = self.run.node_bound
            try:
                return column_generation(
                    NodeState(node.number, node.depth + 1, node.decisions, self.master.sense.ideal),
                    dataclasses.replace(
                        self._parts,  # what a dive finds is no answer of the node's own
                        stabilization=NoStabilization(),
                        settings=dataclasses.replace(
                            self._parts.settings,
                            stop_early=True,
                            round_early=True,
                            keep_duals=False,
                            keep_values=False,
                            rounds=rounds,
                        ),
                        context=lambda state: self._bounds.context(state, pairs),
                    ),
                )
            finally:  # also if interrupted: what a dive proves holds under its fixings only
                self.run.node_bound = proved

        context = HeuristicContext(
            self.master, solution, self.run, node.depth, regenerate, partial(self._vary, node), attempt, bound
        )
        for heuristic in self.heuristics:
            if heuristic.quick is not quick or not heuristic.applies(node.depth) or self.run.expired:
                continue
            if attempt and not heuristic.again:
                continue
            with self.run.stage("heuristics"), sparing(self.run, heuristic.name, node):
                found = heuristic.search(context)
                if found is not None:
                    self.answers.take(found, heuristic.name)
            if self.run.prunes(bound):
                return

    def search_again(self, node: Node, solution: Solution, bound: float) -> None:
        """Run those that are worth another attempt, as long as they bring new columns."""
        if not any(heuristic.again and heuristic.applies(node.depth) for heuristic in self.heuristics):
            return
        for attempt in range(1, _ATTEMPTS):
            known = self.master.num_columns
            self.search(node, solution, bound, quick=False, attempt=attempt)
            if self.run.prunes(bound) or self.run.expired or self.master.num_columns == known:
                return

    def _vary(self, node: Node, rng: np.random.Generator, most: float) -> None:
        """Price once at perturbed dual values; the columns join the master, whatever they are worth."""
        duals = self._bounds.last_duals
        if not isinstance(duals, Duals):
            return
        noise = most * _RANGE ** -rng.random()
        values = duals.values * np.maximum(1.0 + noise * rng.standard_normal(len(duals.values)), 0.0)
        if rng.random() < _PART:
            values[rng.random(len(values)) < _PART] = 0.0
        told = dataclasses.replace(self._bounds.pricing_context(node), provisional=True)
        varied = duals.replace(values)
        found = gather(call_oracles(self._parts.oracles, varied, told), varied)
        self.run.columns_generated += self.master.add(found.columns, (), found.origins)

    def round_off(self, node: Node, solved: MasterSolution, reason: Termination | None) -> None:
        """Where a limit ends a node: look for an answer among the columns at hand, in what time is left for grace."""
        run = self.run
        budget = run.budget
        integer = self.master.integer
        if solved.phase == 1 or integer is None:
            return
        with run.stage("heuristics"), sparing(run, "rounding", node):
            rounded = integer.round(self.master.solution(solved))
            if rounded is not None:
                self.answers.take(rounded, "rounding")
        mip = next((h for h in self.heuristics if isinstance(h, RestrictedMIP)), None)
        if mip is None or run.incumbent is not None or (reason is not None and reason.is_interrupt):
            return
        # Nothing is known yet: a limit of t seconds ends within 1.05 t + 0.1, and this takes a part of that.
        seconds = mip.seconds if run.seconds_left > 0.0 else GRACE * budget.seconds
        with run.stage("heuristics"), sparing(run, mip.name, node):
            found, _ = integer.solve(min(seconds, mip.seconds), None, lambda: budget.interrupted)
            if found is not None:
                self.answers.take(found, mip.name)
