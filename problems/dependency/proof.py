"""Certificates of dependency trees: potentials that prove a tree optimal, with splits on arcs where they do not."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Sense, Solution
from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.witness import WitnessPoint
from colgen.problems.dependency.exact import Arc, ExactProducts, IntegerScores, TreeScores
from colgen.solvers.trees.arborescence import arborescence
from colgen.solvers.trees.eisner import Parts, best_tree

Floats = NDArray[np.float64]
Closed = frozenset[Arc]
"""Arcs that no tree of a node contains."""

_STEPS = 600
"""Descent steps at the root node; other nodes get a tenth of them."""

_NODES = 300
"""Maximum number of splits."""

_MARGIN = 2.0**-24
"""Margin, relative to the scores, by which arcs of the tree must be better than others, to survive rounding."""


@dataclass
class _Dual:
    """Potentials of chains, shape (n + 1, n + 1), and shares of factors by arc, equal within each negative factor."""

    chains: Floats
    shares: Floats

    def copy(self) -> _Dual:
        return _Dual(self.chains.copy(), self.shares.copy())


class TreeCertifier(Certifier):
    """Independent proof of a tree: the run's potentials are inexact, so exact ones tight at the tree are computed.

    Every score is an integer over a power of two, so that nothing is rounded.  ``heads`` returns the heads of the words
    in a solution.
    """

    def __init__(self, name: str, scores: Callable[[], TreeScores], heads: Callable[[Solution], Sequence[int]]) -> None:
        super().__init__(Sense.MAXIMIZE, name)
        self._make, self._heads = scores, heads

    states_formulation = False

    @cached_property
    def _scores(self) -> TreeScores:
        return self._make()

    def instance(self) -> Record:
        return self._data

    @cached_property
    def _data(self) -> Record:
        return {"kind": "trees", "name": self.name, **self._integers.data}

    @cached_property
    def _integers(self) -> IntegerScores:
        return IntegerScores(self._scores)

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "trees", "uses": [1, 1]}]}

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [int(h) for h in self._heads(solution)]]]

    def objective(self, solution: Solution) -> Fraction:
        return Fraction(self._integers.total([int(h) for h in self._heads(solution)]), 2**self._integers.shift)

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterator[Record] | None:
        tree = np.array([-1, *self._heads(answer)], dtype=np.int64)
        records = list(self._proof_lines(tree, goal))
        return iter(records) if records[-1] else None

    def _proof_lines(self, tree: NDArray[np.int64], goal: Fraction) -> Iterator[Record]:
        """Yield the lines of the proof; an empty line at the end if there is no proof."""
        start = self._start(tree)
        stack = [(0, Closed(), start, True)]
        numbers, splits = itertools.count(1), 0
        while stack:
            node, closed, dual, holds = stack.pop()
            arcs = self._scores.arcs.copy()
            for h, m in closed:
                arcs[h, m] = -np.inf
            claim = None if holds else self._infeasible_claim(closed)
            if claim is not None:
                yield {"node": node, "claim": claim}
                continue
            claim, dual, other = self._bound_node(arcs, closed, tree if holds else None, dual, goal, node)
            if claim is not None:
                yield {"node": node, "claim": claim}
                continue
            open_ = [m for m in range(1, len(tree)) if other[m] != tree[m] and np.isfinite(arcs[:, m]).sum() > 1]
            open_ = open_ or [m for m in range(1, len(tree)) if np.isfinite(arcs[:, m]).sum() > 1]
            if not open_ or splits == _NODES:
                # One tree is left, and potentials tight at it prove its score; or the node limit is reached.
                self._tighten(dual, None if open_ else other)
                claim = self._exact_claim(dual, closed, None if open_ else other)
                if claim is None:
                    yield {}
                    return
                yield {"node": node, "claim": claim}
                continue
            splits += 1
            m = open_[len(open_) // 2]
            h = int(tree[m]) if np.isfinite(arcs[tree[m], m]) else int(other[m])
            one, two = next(numbers), next(numbers)
            yield {"node": node, "split": {"arc": [h, m]}, "children": [one, two]}
            others = {(g, m) for g in range(len(tree)) if g != h}
            stack.append((one, closed | others, dual.copy(), holds and h == tree[m]))
            stack.append((two, closed | {(h, m)}, dual.copy(), holds and h != tree[m]))

    def _infeasible_claim(self, closed: Closed) -> Record | None:
        """Return a claim that a node has no tree, or None."""
        shown = self._integers.empty(closed)
        return None if shown is None else self._claim(0, Fraction(1), None, shown[0])

    def _claim(self, weight: int, least: Fraction, bound: Fraction | None, given: Any) -> Record:
        claim = {"weight": weight, "unit": 1, "duals": [], "counts": [], "least": [as_exact(least)]}
        claim["bound"] = None if bound is None else as_exact(bound)
        if not weight:
            claim["worth"] = as_exact(least)
        return claim if given is None else {**claim, "potentials": given}

    # --- descent -----------------------------------------------------------------------------------------------------

    def _start(self, tree: NDArray[np.int64]) -> _Dual:
        """Return potentials that are tight at a tree."""
        scores, chains = self._scores, np.zeros_like(self._scores.arcs)
        if scores.grandparents is not None:
            heads = np.maximum(tree, 0)
            chains = scores.grandparents[heads, np.arange(len(tree)), :].copy()
        return _Dual(chains, np.ones(len(self._products.of)))

    @property
    def _products(self) -> ExactProducts:
        return self._integers.products

    def _tighten(self, dual: _Dual, tree: NDArray[np.int64] | None) -> None:
        """Make potentials valid, and tight at the tree if one is given."""
        scores = self._scores
        if scores.grandparents is not None and tree is not None:
            own = scores.grandparents[np.maximum(tree, 0), np.arange(len(tree)), :]
            used = np.zeros(own.shape, dtype=np.bool_)
            used[tree[1:], np.arange(1, len(tree))] = True
            np.minimum(dual.chains, own, out=dual.chains, where=used)
            np.maximum(dual.chains, own, out=dual.chains, where=~used)
        if len(dual.shares):
            dual.shares = self._products.tighten(dual.shares, tree)

    def _weights(self, arcs: Floats, dual: _Dual) -> tuple[Floats, float]:
        """Return arc weights that include all other scores, and the remaining constant."""
        scores, weights, constant = self._scores, arcs.copy(), 0.0
        if scores.grandparents is not None:
            there = np.isfinite(arcs)
            earned = np.maximum(scores.grandparents - dual.chains[None, :, :], 0.0) * there[None, :, :]
            n = np.arange(len(arcs))
            earned[n, :, n] = 0.0
            weights[:, 1:] += earned.sum(axis=2)[:, 1:]
            weights[1:, :] += dual.chains[1:, :]
        if len(dual.shares):
            own = self._products
            there = own.sums(~np.isfinite(arcs[own.heads, own.modifiers])) == 0
            np.add.at(weights, (own.heads, own.modifiers), np.where(there[own.of], dual.shares, 0.0))
            over = there & own.negative
            constant -= float((dual.shares[own.starts] * (own.lengths - 1))[over].sum())
        return weights, constant

    def _best_tree(self, weights: Floats) -> tuple[NDArray[np.int64], float] | None:
        scores = self._scores
        if not scores.projective:
            return arborescence(weights, single_root=scores.single_root)
        allowed = np.isfinite(weights)
        found = best_tree(Parts(np.where(allowed, weights, -np.inf)), allowed=allowed, single_root=scores.single_root)
        return None if found is None else (found[1], found[0])

    def _bound_node(
        self, arcs: Floats, closed: Closed, tree: NDArray[np.int64] | None, dual: _Dual, goal: Fraction, node: int
    ) -> tuple[Record | None, _Dual, NDArray[np.int64]]:
        """Return a claim that no tree of a node is better, or None; the final potentials; and the last tree.

        If ``tree`` belongs to the node, steps are those of a perceptron: potentials stay tight at it and move until it
        is the best tree by a margin.
        """
        scores, wanted = self._scores, -float(goal)
        unit = max(float(np.abs(scores.arcs[np.isfinite(scores.arcs)]).max(initial=0.0)), 2.0**-60)
        if scores.grandparents is not None:
            unit = max(unit, float(np.abs(scores.grandparents).max()))
        other, best, scale, lowest, since = np.zeros(len(arcs), dtype=np.int64), dual, 1.0, np.inf, 0
        n = np.arange(1, len(arcs))
        for _ in range(_STEPS if node == 0 else _STEPS // 10):
            self._tighten(dual, tree)
            weights, constant = self._weights(arcs, dual)
            if tree is not None:
                weights += _MARGIN * unit
                weights[tree[1:], n] -= _MARGIN * unit
            found = self._best_tree(weights)
            if found is None:
                return None, dual, other
            other, value = found[0], found[1] + constant
            if value < lowest:
                lowest, best, since = value, dual.copy(), 0
            else:
                since += 1
            if (tree is not None and np.array_equal(other[1:], tree[1:])) or (
                tree is None and value < wanted - unit * _MARGIN
            ):
                claim = self._exact_claim(dual, closed, tree, goal)
                if claim is not None:
                    return claim, dual, other
            if since >= 20:
                scale, since = scale * 0.7, 0
            slope = self._slope(dual, other, tree)
            length = float((slope.chains**2).sum() + (slope.shares**2).sum())
            if not length:
                break
            step = scale * max(value - wanted + _MARGIN * unit, _MARGIN * unit) / length
            dual.chains -= step * slope.chains
            dual.shares = dual.shares - step * slope.shares
        return None, best, other

    def _slope(self, dual: _Dual, other: NDArray[np.int64], tree: NDArray[np.int64] | None) -> _Dual:
        """Return the derivative of a tree's value with respect to potentials that stay tight at ``tree``."""
        scores, size = self._scores, len(other)
        chains = np.zeros((size, size))
        if scores.grandparents is not None:
            chains -= scores.grandparents[np.maximum(other, 0), np.arange(size), :] > dual.chains
            chains[other[1:], np.arange(1, size)] += 1.0
            chains[0, :] = chains[:, 0] = 0.0
            np.fill_diagonal(chains, 0.0)
        return _Dual(chains, self._products.slope(tree, other) if len(dual.shares) else dual.shares)

    def _exact_claim(
        self, dual: _Dual, closed: Closed, tree: NDArray[np.int64] | None, goal: Fraction | None = None
    ) -> Record | None:
        """Return an exact integer claim; None if it does not hold or misses the goal."""
        found = self._integers.bound(dual.chains, dual.shares, closed, tree)
        if found is None:
            return None
        bound = Fraction(found[0], 2**self._integers.shift)
        return self._claim(1, -bound, bound, found[1]) if goal is None or -bound >= goal else None
