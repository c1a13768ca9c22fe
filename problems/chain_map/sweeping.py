"""The oracle that finds and proves best labellings in one pass: labels are priced before they enter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.budget import OutOfBudget
from colgen.master.lagrangian_master import LagrangianMaster
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problems.chain_map.fallback import label_greedily
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernel_calls import KernelCalls
from colgen.problems.chain_map.kernels.tree_labels import best_flips, best_labels, runner_up
from colgen.problems.chain_map.labellings import Labellings, as_solution
from colgen.solvers.chains.tree_domains import Domains, Sweep
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]

_DOUBTFUL_SHARE = 4
"""If single precision leaves several labels at more than one in this many nodes, double precision is used."""


class SweepPricing(Pricing):
    """Label all trees in one sweep, which creates its own dual values.

    With the sweep's messages as dual values, no pair with a removed label has a positive reduced cost, whatever the
    messages from the other side are (:mod:`colgen.solvers.chains.tree_domains`). The remaining labels are searched
    completely. So the sum of the best scores within the domains bounds all labellings, and the labellings found attain
    it. Trees not reached in time are labelled greedily, with a bound that reads each score once.

    ``margin``: also find second best labellings that lose at most this; inf for all. ``found`` holds the labellings of
    the last call, including trees without a labelling; ``domains`` the remaining labels.
    """

    def __init__(self, instance: ChainInstance, margin: float | None = None) -> None:
        self.instance = instance
        self.margin = margin
        self.found: Labellings | None = None
        self.domains: Domains | None = None

    def price(self, duals: Any, context: PricingContext) -> PricingResult:
        found, finished = self.label(lambda: context.budget.expired)
        possible = bool((found.bounds > -np.inf).any())
        return PricingResult(
            total=found.dual_bound if possible else -math.inf,
            cut_off=not finished,
            answers=(as_solution(self.instance.forest, found),) if possible and found.is_complete else (),
        )

    def label(self, expired: Expired = never) -> tuple[Labellings, bool]:
        """Return labellings with bounds, and whether all trees were finished before ``expired`` returned true."""
        instance, forest = self.instance, self.instance.forest
        pieces = KernelCalls(expired)
        slack = None
        if self.margin is not None and math.isfinite(self.margin):
            slack = np.full(instance.num_trees, float(self.margin))
        done, self.domains = self._sweep_domains(pieces, slack)
        labels = np.empty(forest.num_nodes, dtype=np.int32)
        values = np.empty(instance.num_trees)
        scores, rows = instance.scores, instance.pairwise.rows
        best_labels(forest, scores, rows, self.domains, np.arange(done), labels, values)
        bounds, second, finished = values, None, done == instance.num_trees
        if not finished:
            bounds = values.copy()
            label_greedily(instance, done, labels, values, bounds)
        elif self.margin is not None:
            second = self._runner_up(pieces, self.domains, labels, values)
            finished = second is not None
        self.found = Labellings(forest.starts, labels, values, bounds, second)
        return self.found, finished

    def _sweep_domains(self, pieces: KernelCalls, slack: Floats | None) -> tuple[int, Domains]:
        """Return the number of finished trees, and the labels that they may need."""
        instance, pairwise = self.instance, self.instance.pairwise
        exchanges = pairwise.exchanges_within(pieces.require)
        found = Sweep(instance.forest, instance.scores, pairwise.rows, exchanges, slack, pairwise.size)
        pieces.run(found.advance, instance.forest.num_nodes, instance.num_labels**2)
        if instance.scores.dtype == np.float32 and found.doubtful > instance.forest.num_nodes // _DOUBTFUL_SHARE:
            # Single precision does not distinguish the labels: a constant or penalties dominate the scores.
            double = pairwise.double
            scores = instance.scores.astype(float)
            exchanges = double.exchanges_within(pieces.require)
            again = Sweep(instance.forest, scores, double.rows, exchanges, slack, double.size)
            pieces.run(again.advance, instance.forest.num_nodes, instance.num_labels**2)
            found = again if again.trees >= found.trees else found
        return found.trees, found.domains

    def _runner_up(
        self, pieces: KernelCalls, domains: Domains, labels: NDArray[np.int32], values: Floats
    ) -> Labellings | None:
        """Return second best labellings; None if the time is used up."""
        instance = self.instance
        forest, scores, rows = instance.forest, instance.scores, instance.pairwise.rows
        try:
            if self.margin == math.inf:
                # The second best loses no more than the best change of one label, if there is an allowed change.
                slack = np.empty(instance.num_trees)
                best_flips(forest, scores, rows, labels, values, slack, pieces.require)
                done, domains = self._sweep_domains(pieces, slack)
                if done < instance.num_trees:
                    return None
            others, second = runner_up(forest, scores, rows, domains, pieces.require)
        except OutOfBudget:
            return None
        return Labellings(forest.starts, others, second, second)


class SweepMaster(LagrangianMaster):
    """Sums the bounds of sweeps."""

    answers_late = True


class OneSweep(Bounding):
    """Bound a node by the sweep alone; there are no dual values to optimise."""

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        reason = parts.run.budget.reason
        return Bounded(Outcome.SOLVED if reason is None else Outcome.STOPPED, node.bound, termination=reason)
