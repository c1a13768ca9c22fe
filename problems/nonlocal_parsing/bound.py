"""Bounds of the nodes by dynamic programs: the relaxation that branch and bound asks."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from colgen import Column, Decision, Iteration, Solution, Termination
from colgen.bounds.run import Run
from colgen.tree.search import Evaluation, Node, Relaxation
from problems.dependency.sentence import Heads
from problems.nonlocal_parsing.checking import checked
from problems.nonlocal_parsing.factors import Floats, Ints
from problems.nonlocal_parsing.instance import Instance
from problems.nonlocal_parsing.kernels.products import tighten_below
from problems.nonlocal_parsing.kernels.tree_bound import EMPTY, FIXING, POLYAK, SUBGRADIENT, Scores, bound_node, meets
from problems.nonlocal_parsing.losses import Losses
from solvers.trees.backbone import OutOfTimeError
from solvers.trees.eisner_first import NEG

Method = Literal["fixing", "polyak", "subgradient"]
METHODS: dict[Method, int] = {
    "fixing": FIXING,
    "polyak": POLYAK,
    "subgradient": SUBGRADIENT,
}


_GRACE = 10
"""Slices of some milliseconds that trees may take when there is no time left."""


@dataclass(frozen=True)
class ArcDecision(Decision):
    """An arc is in the tree, or is not."""

    head: int
    modifier: int
    required: bool

    def allows(self, column: Column) -> bool:
        return bool((column.structure[self.modifier - 1] == self.head) == self.required)

    def __str__(self) -> str:
        return f"{self.head} {'→' if self.required else '↛'} {self.modifier}"


@dataclass
class Effort:
    """Calls of the dynamic program: passes that find a best tree, and passes that find max-marginals besides."""

    calls: int = 0
    sweeps: int = 0
    k_best: int = 0

    @property
    def total(self) -> int:
        """All of them; a pass for max-marginals, or for k best trees, counts as one more call."""
        return self.calls + self.sweeps + self.k_best


@dataclass
class Pool:
    """The best trees so far, no more than ``k``, best first, with what they lose."""

    k: int
    trees: dict[tuple[int, ...], float] = field(default_factory=dict)

    def add(self, heads: tuple[int, ...], loss: float) -> bool:
        """Whether the tree is among the best k, and was not before."""
        if heads in self.trees or (len(self.trees) >= self.k and loss >= self.least):
            return False
        self.trees[heads] = loss
        ranked = sorted(self.trees.items(), key=lambda item: item[1])[: self.k]
        self.trees = dict(ranked)
        return heads in self.trees

    @property
    def least(self) -> float:
        """What a tree must lose less than: the loss of the k-th best, infinite before there are k."""
        return max(self.trees.values()) if len(self.trees) >= self.k else math.inf


class TreeRelaxation(Relaxation):
    """Bounds a node by dynamic programs over tilted scores, and splits it on the arc of largest gap.

    Parameters
    ----------
    k
        How many trees are wanted.  With several, the incumbent is the k-th best tree so far, and a node's bound speaks
        of the trees that are not among them: if ψ's k-th best tree does not beat the k-th best value then no unlisted
        tree does (the source's proposition 2).
    method
        How the bound is brought down, see :mod:`problems.nonlocal_parsing.kernels.tree_bound`.
    most_calls, patience
        Calls of the parser a node, and calls without progress after which a node is split.
    warm
        Whether a node starts at its parent's p; False: at a start of its own.
    """

    def __init__(
        self,
        instance: Instance,
        run: Run,
        *,
        k: int = 1,
        method: Method = "fixing",
        most_calls: int = 200,
        patience: int = 10,
        warm: bool = True,
        lower_bounds: int = 0,
    ) -> None:
        self.instance, self.run = instance, run
        self.method = METHODS[method]
        self.most_calls, self.patience, self.warm = most_calls, patience, warm
        self.pool = Pool(k)
        self.effort = Effort()
        self._lower_bounds = lower_bounds
        self._reason: Termination | None = None
        self._losses = Losses(instance, self._expired)
        self.near = self._losses.near_one()
        run.state_scale(self.near.unit)

    def _expired(self) -> bool:
        """Whether the run must end now; once it must it must, and why is kept."""
        self._reason = self._reason or self.run.budget.reason
        return self._reason is not None

    def root_scores(self) -> Scores:
        """The instance's scores near 1, with the uniform p."""
        return self.near.scores()

    def evaluate(self, node: Node) -> Evaluation:
        started = time.perf_counter()
        evaluation = self._evaluated(node)
        iteration = Iteration(
            number=len(self.run.iterations),
            node=node.number,
            depth=node.depth,
            phase=2,
            objective=self.run.objective,
            dual_bound=max(evaluation.bound, self.run.objective),
            incumbent=self.run.objective,
            global_bound=self.run.global_bound,
            columns=0,
            rows=0,
            new_columns=0,
            new_rows=0,
            misprices=0,
            seconds=self.run.seconds,
            master_seconds=0.0,
            pricing_seconds=time.perf_counter() - started,
            separation_seconds=0.0,
        )
        self.run.record(iteration)  # a reason to stop is heard before the next node
        return evaluation

    def _evaluated(self, node: Node) -> Evaluation:
        while True:
            self._come_near()
            near = self.near
            scores = self._start(node)
            try:
                if node.number == 0 and self._lower_bounds:
                    self._ascend(scores)
                evaluation = self._bound(node, scores)
            except OutOfTimeError:
                evaluation = Evaluation(near.bound(near.top), "stopped")
            if self._expired():
                self._settle_for_any()
                return replace(evaluation, children=(), outcome="stopped", stop=self._reason)
            if not near.is_coarse(self.pool.least):
                return evaluation

    def _come_near(self) -> None:
        """Take smaller numbers, if the best trees known are so good that large ones do not matter any more."""
        if self.near.is_coarse(self.pool.least):
            self.near = self._losses.near_one(self.pool.least)
            self.run.state_scale(self.near.unit)

    def _start(self, node: Node) -> Scores:
        """Scores of a node: those of its parent, as long as they speak of the same numbers."""
        if node.start is not None and node.start[0] is self.near:
            scores: Scores = node.start[1].copy()
            decisions = node.decisions[-1:]
        else:
            scores, decisions = self.root_scores(), node.decisions
        for decision in decisions:
            _decide(scores.arc, decision)
        return scores

    def _bound(self, node: Node, scores: Scores) -> Evaluation:
        near, run, size = self.near, self.run, self.instance.parts.size
        bounded = bound_node(
            scores,
            near.backbone,
            cut=near.value(self.pool.least),
            raising=self.pool.k == 1,
            grid=near.step,
            method=self.method,
            fresh=node.start is None or node.start[0] is not near or not self.warm,
            most_calls=self.most_calls,
            patience=self.patience,
        )
        self.effort.calls += bounded.calls
        self.effort.sweeps += bounded.sweeps
        if bounded.heads is not None:
            self._offer(bounded.heads)
        if bounded.outcome == EMPTY:
            self._keep_root(node, run.sense.hopeless)
            return Evaluation(run.sense.hopeless, "empty")
        bound = min(bounded.bound, near.top)  # infinite if the first dynamic program was cut off
        self._keep_root(node, near.bound(bound))
        gap = bounded.gap
        if self.pool.k > 1:
            rest, gap = self._list(scores, node.number == 0)
            bound = min(bound, rest)
        if bound == -math.inf or meets(bound, near.value(self.pool.least), near.step):
            return Evaluation(min(near.bound(bound), run.objective), "pruned")
        arc = _largest_gap(scores, gap, size)
        if arc is None:  # no product is left: the bound is a tree's value, which the run knows
            return Evaluation(min(near.bound(bound), run.objective), "pruned")
        h, m = divmod(arc, size)
        children = [[ArcDecision(h, m, required)] for required in (True, False)]
        if bounded.at_bound[m] != h:
            children.reverse()
        return Evaluation(self._above(near.bound(bound)), "branched", children, (near, scores))

    def _keep_root(self, node: Node, bound: float) -> None:
        if node.number == 0:
            # The bound speaks of trees that beat the incumbent: with it, of all trees.
            self.root_bound = max(bound, self.run.objective)

    def _above(self, bound: float) -> float:
        """A bound that the run does not take for met: numbers common to all trees may be large, their digits few."""
        least = 2.0**-52 * abs(self.run.objective)
        while self.run.prunes(bound):
            bound = max(bound, self.run.objective + least)
            least *= 4.0
        return bound

    # --- answers -----------------------------------------------------------------------------------------------------

    def take(self, solution: Solution, source: str) -> bool:
        before = self.run.incumbent
        for heads in solution.columns[0][0].structure:
            checked(self.instance, heads)
            self.pool.add(tuple(heads), self._losses.of(heads))
        self._announce(source)
        return self.run.incumbent is not before

    def _offer(self, heads: Ints) -> None:
        """A tree that the bounds have come by."""
        tree = tuple(heads[1:].tolist())
        if tree not in self.pool.trees and self.pool.add(tree, self._losses.of(tree)):
            self._announce("a dynamic program")

    def _announce(self, source: str) -> None:
        """Offer the trees, once there are k."""
        if self.pool.least < math.inf:
            trees = tuple(self.pool.trees)
            self.run.offer(solution_of(trees, self.instance.objective(trees[-1])), None, source)

    def _settle_for_any(self) -> None:
        """When there is no time left: trees of the arcs' scores alone, if nothing better is known."""
        if self.pool.least < math.inf:
            return
        try:
            trees = self._losses.by_arcs(self.pool.k, _GRACE)
        except OutOfTimeError:
            return
        if len(trees) < self.pool.k:  # there are no more
            self.pool.k = max(len(trees), 1)
        for tree in trees:
            self._offer(tree)

    def _list(self, scores: Scores, root: bool) -> tuple[float, Floats]:
        """Offer ψ's k best trees of a node; the bound on all of its other trees, and the products' gaps at these k."""
        k, size = self.pool.k, self.instance.parts.size
        tilted, heads = np.empty((size, size)), np.empty(size, dtype=np.int64)
        bound = scores.evaluate(self.near.backbone, tilted, heads)
        values, trees = self.near.backbone.k_best(tilted, k)
        self.effort.calls += 1
        self.effort.k_best += 1
        if len(trees) < k and root and math.isinf(self.pool.least):  # there are no more trees than these
            self.pool.k = max(len(trees), 1)
        gap = np.zeros(len(scores.score))
        for tree in trees:
            self._offer(tree)
            gap += scores.gaps(tree)
        self._announce("a dynamic program")
        if len(trees) < k:
            return self.run.sense.hopeless, gap
        return bound - float(values[0] - values[-1]), gap

    def _ascend(self, scores: Scores) -> None:
        """Answers from the lower bound π: tightened at a tree, its best tree is no worse; so in turn, a few times."""
        backbone, size = self.near.backbone, self.instance.parts.size
        heads, tilted = np.empty(size, dtype=np.int64), np.empty((size, size))
        self.effort.calls += 1
        if scores.evaluate(backbone, tilted, heads) < 0.5 * NEG:
            return
        own = scores.copy()
        for _ in range(self._lower_bounds):
            tighten_below(own.start, own.arcs, own.score, own.p, heads)
            before = heads.copy()
            own.evaluate(backbone, tilted, heads, lower=True)
            self.effort.calls += 1
            self._offer(heads)
            if (before == heads).all():
                return


def solution_of(trees: tuple[Heads, ...], least: float) -> Solution:
    """Trees, best first, as the engine's answer: one column that stands for all of them, worth the last."""
    return Solution(least, ((Column(cost=least, coefficients={}, structure=trees), 1.0),))


def _decide(arc: Floats, decision: Decision) -> None:
    assert isinstance(decision, ArcDecision)
    h, m = decision.head, decision.modifier
    if decision.required:
        kept = arc[h, m]
        arc[:, m] = NEG
        arc[h, m] = kept
    else:
        arc[h, m] = NEG


def _largest_gap(scores: Scores, gap: Floats, size: int) -> int | None:
    """The undecided arc whose factors are to blame for most of the gap; None if there is no gap."""
    if not len(scores.score):
        return None
    total = np.bincount(scores.arcs, weights=np.repeat(gap, np.diff(scores.start)), minlength=size * size)
    arc = int(total.argmax())
    return arc if total[arc] > 0.0 else None
