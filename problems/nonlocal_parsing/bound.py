"""Search for shares that lower the bound of a node; the dynamic program of the oracle then proves the bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import numpy as np

from colgen import BranchingRule, Column, Decision, Solution
from colgen.bounding.protocol import Bounded, Bounding, NodeState, Outcome, Parts
from colgen.core.budget import Budget
from colgen.problems.dependency.decisions import ArcDecision, NoBetter, restrict
from colgen.problems.nonlocal_parsing.factors import Floats, Ints
from colgen.problems.nonlocal_parsing.instance import NonlocalInstance
from colgen.problems.nonlocal_parsing.kernels import tree_bound
from colgen.problems.nonlocal_parsing.kernels.products import tighten_below
from colgen.problems.nonlocal_parsing.kernels.screening import bound_many
from colgen.problems.nonlocal_parsing.kernels.tree_bound import FIXING, POLYAK, SUBGRADIENT, NodeScores, bound_node
from colgen.problems.nonlocal_parsing.losses import Losses, NormalizedScores
from colgen.problems.nonlocal_parsing.pool import BestTreePool, Effort
from colgen.problems.nonlocal_parsing.pricing import BestTrees, Shares, scores_of
from colgen.solvers.trees.backbone import TreeTimeError
from colgen.solvers.trees.eisner_items import NEG

AscentMethod = Literal["fixing", "polyak", "subgradient"]
METHODS: dict[AscentMethod, int] = {
    "fixing": FIXING,
    "polyak": POLYAK,
    "subgradient": SUBGRADIENT,
}

_GRACE = 10
"""Time slices of some milliseconds that trees may take after the time limit."""


class ShareAscent:
    """Search for shares and trees of one sentence.

    Parameters
    ----------
    pool
        The best trees so far. If k > 1 trees are wanted, the incumbent is the k-th best, and a node's bound covers the
        trees outside the pool. If ψ's k-th best tree does not beat the k-th best value, no other tree does (Qian and
        Liu, 2013, proposition 2).
    most_calls, patience
        Largest number of calls of the parser per node, and number of calls without progress before a node is split.
    lower_bounds
        Number of improvements of the lower bound π before the root is bounded.

    Attributes
    ----------
    last
        Scores, result and shares of the last ascent; None before the first.
    """

    def __init__(
        self,
        instance: NonlocalInstance,
        pool: BestTreePool,
        effort: Effort,
        *,
        method: AscentMethod,
        most_calls: int,
        patience: int,
        lower_bounds: int,
        budget: Budget,
    ) -> None:
        self.instance, self.pool, self.effort = instance, pool, effort
        self._method, self._most_calls, self._patience = METHODS[method], most_calls, patience
        self._lower_bounds = lower_bounds
        self.losses = Losses(instance, lambda: budget.expired)
        self.near = self.losses.normalize()
        self.last: tuple[NodeScores, tree_bound.Bounded, Shares] | None = None

    def watch(self, budget: Budget) -> None:
        """Set the budget that dynamic programs check."""
        self.losses.expired = lambda: budget.expired

    def root(self) -> Shares:
        """Return shares for the root, and add the trees found to the pool."""
        while True:
            self.rescale()
            scores = self.near.scores()
            try:
                if self._lower_bounds:
                    self._ascend(scores)
                duals, bounded = self.bound(scores, fresh=True)
                if self.pool.k > 1 and bounded.outcome != tree_bound.EMPTY:
                    self.list_trees(scores, root=True)
            except TreeTimeError:
                duals = Shares(self.near)
            if self.losses.expired() or not self.near.is_coarse(self.pool.least):
                return duals

    def rescale(self) -> bool:
        """Rescale to smaller numbers if the best trees make large ones irrelevant; return whether this happened."""
        coarse = self.near.is_coarse(self.pool.least)
        if coarse:
            self.near = self.losses.normalize(self.pool.least)
        return coarse

    def bound(self, scores: NodeScores, *, fresh: bool) -> tuple[Shares, tree_bound.Bounded]:
        """Lower the bound of a node and leave ``scores`` at the best shares; ``fresh`` chooses new initial shares."""
        near = self.near
        search = (
            bound_many if fresh and self._method == FIXING else partial(bound_node, method=self._method, fresh=fresh)
        )
        bounded = search(
            scores,
            near.backbone,
            cut=near.value(self.pool.least),
            raising=self.pool.k == 1,
            grid=near.step,
            most_calls=self._most_calls,
            patience=self._patience,
        )
        self.effort.calls += bounded.calls
        self.effort.sweeps += bounded.sweeps
        if bounded.heads is not None:
            self.add_tree(bounded.heads)
        shares = Shares(near, bounded.stages)
        self.last = scores, bounded, shares
        return shares, bounded

    def add_tree(self, heads: Ints) -> None:
        """Add a tree to the pool, given by the heads of all vertices."""
        tree = tuple(heads[1:].tolist())
        if tree not in self.pool.trees:
            self.pool.add(tree, self.losses.of(tree))

    def list_trees(self, scores: NodeScores, root: bool) -> Floats:
        """Add the k best trees under the node's upper bound ψ to the pool.

        Return the contribution of each product of factors to the gaps between ψ and the scores of these trees.
        """
        k, size = self.pool.k, self.instance.parts.size
        tilted, heads = np.empty((size, size)), np.empty(size, dtype=np.int64)
        scores.evaluate(self.near.backbone, tilted, heads)
        _, trees = self.near.backbone.k_best(tilted, k)
        self.effort.calls += 1
        self.effort.k_best += 1
        if len(trees) < k and root and math.isinf(self.pool.least):  # the instance has no more trees
            self.pool.k = max(len(trees), 1)
        gap = np.zeros(len(scores.score))
        for tree in trees:
            self.add_tree(tree)
            gap += scores.gaps(tree)
        return gap

    def add_any_trees(self) -> None:
        """After the time limit, add trees by arc scores alone unless the pool is full."""
        if self.pool.is_full:
            return
        try:
            trees = self.losses.by_arcs(self.pool.k, _GRACE)
        except TreeTimeError:
            return
        if len(trees) < self.pool.k:  # the instance has no more trees
            self.pool.k = max(len(trees), 1)
        for tree in trees:
            self.add_tree(tree)

    def _ascend(self, scores: NodeScores) -> None:
        """Add trees that maximise the lower bound π: if π is tight at a tree, the next tree is at least as good."""
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
            self.add_tree(heads)
            if (before == heads).all():
                return


class TreeBounding(Bounding):
    """Bound a node by an ascent from its parent's shares.

    Parameters
    ----------
    ascent
        Function that returns the ascent; it is called when the first node is bounded.
    warm
        Whether nodes start at the shares p of their parents; otherwise they start at new initial shares.
    """

    def __init__(self, ascent: Callable[[], ShareAscent], warm: bool) -> None:
        self._ascent, self.warm = ascent, warm

    def bound(self, node: NodeState, parts: Parts) -> Bounded:
        ascent, run = self._ascent(), parts.run
        pool = ascent.pool
        ascent.watch(run.budget)
        while True:
            guessed = None if node.number else ascent.last
            if ascent.rescale():
                run.state_scale(ascent.near.unit)
                guessed = None
            try:
                if guessed is None:
                    scores, fresh = self._start(ascent.near, node)
                    duals, bounded = ascent.bound(scores, fresh=fresh)
                else:  # the warm start has bounded the root already
                    scores, bounded, duals = guessed
                gap = bounded.gap
                if pool.k > 1 and bounded.outcome != tree_bound.EMPTY:
                    gap = ascent.list_trees(scores, node.number == 0)
            except TreeTimeError:
                break
            if run.budget.reason is not None:
                break
            if not ascent.near.is_coarse(pool.least):
                self._announce(ascent, parts)
                solution = fractional_solution(scores, gap, bounded.at_bound)
                start = (ascent.near, scores)
                return Bounded(Outcome.SOLVED, math.inf, duals=duals, solution=solution, start=start)
        ascent.add_any_trees()
        self._announce(ascent, parts)
        return Bounded(Outcome.STOPPED, math.inf, termination=run.budget.reason, duals=Shares(ascent.near))

    def _start(self, near: NormalizedScores, node: NodeState) -> tuple[NodeScores, bool]:
        """Return a node's scores, from its parent if they have the same scale, and whether to choose new shares."""
        if node.start is None or node.start[0] is not near:
            return scores_of(near, node.decisions), True
        scores: NodeScores = node.start[1].copy()
        scores.arc[~restrict(scores.arc > 0.5 * NEG, node.decisions[-1:])] = NEG
        return scores, not self.warm

    def _announce(self, ascent: ShareAscent, parts: Parts) -> None:
        if ascent.pool.is_full:
            parts.take(ascent.pool.solution(ascent.instance), "a dynamic program")


def fractional_solution(scores: NodeScores, gap: Floats, at_bound: Ints) -> Solution:
    """Return the mean of the tree that attains the bound and a tree that differs in the arc with the largest gap."""
    arc = _largest_gap(scores, gap, len(at_bound))
    tree = tuple(at_bound[1:].tolist())
    if arc is None:
        return Solution(0.0, ())
    h, m = divmod(arc, len(at_bound))
    other = h if at_bound[m] != h else next(g for g in range(len(at_bound)) if g not in (h, m))
    changed = (*tree[: m - 1], other, *tree[m:])
    # The value 1/2 marks the arc itself.
    return Solution(
        0.0,
        ((Column(0.0, {}, tree, ("tree", tree)), 0.5), (Column(0.0, {}, changed, ("tree", changed)), 0.5)),
        {("z", (h, m)): 0.5},
    )


class OnLargestGap(BranchingRule):
    """Branch on whether the arc with the largest gap is in the tree; dropped arcs are not."""

    makes: Sequence[type[Decision]] = (NoBetter, ArcDecision)

    def __init__(self, oracle: BestTrees) -> None:
        self.oracle = oracle

    def branch(self, solution: Solution) -> Sequence[Sequence[Decision]]:
        if not solution.columns:
            return ()
        (((_, arc), _),) = solution.variables.items()
        assert isinstance(arc, tuple)
        h, m = arc
        held = solution.columns[0][0].structure[m - 1] == h
        common: list[Decision] = []
        if self.oracle.dropped is not None and self.oracle.dropped.any():
            common.append(NoBetter.of(self.oracle.dropped))
        return [[*common, ArcDecision(h, m, required)] for required in (held, not held)]


def _largest_gap(scores: NodeScores, gap: Floats, size: int) -> int | None:
    """Return the undecided arc whose factors contribute most to the gap; None without a gap."""
    if not len(scores.score):
        return None
    total = np.bincount(scores.arcs, weights=np.repeat(gap, np.diff(scores.start)), minlength=size * size)
    arc = int(total.argmax())
    return arc if total[arc] > 0.0 else None
