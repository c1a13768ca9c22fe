"""Certificates of dependency trees: potentials at which no tree is better, and splits on arcs where there are none."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import Sense, Solution
from colgen.proof.certifier import Certifier, Record, as_exact
from colgen.proof.checker_pricing import NO, State, WrongError
from colgen.proof.checker_trees import Trees as Checked
from colgen.proof.scaling import as_whole, places
from colgen.proof.witness import Point
from problems.dependency.sentence import cycle_of_arcs
from solvers.trees.arborescence import arborescence
from solvers.trees.eisner import Parts, best_tree

Floats = NDArray[np.float64]
Arc = tuple[int, int]

_STEPS = 600
"""Of the descent at a node; a tenth of them at nodes below the root."""

_NODES = 300
"""At most so many are split."""

_MARGIN = 2.0**-24
"""By so much, relative to the scores, each arc of the tree is to be better than others: rounding may cost it."""


@dataclass(frozen=True)
class TreeScores:
    """What a tree is worth.

    Attributes
    ----------
    arcs
        By head and modifier, shape (n + 1, n + 1); -inf where there is no arc.
    grandparents
        By grandparent, parent, child; None if there are none.
    factors
        Sets of arcs, and the score of a tree that has all of them.
    """

    arcs: Floats
    grandparents: Floats | None
    factors: Sequence[tuple[Sequence[Arc], float]]
    single_root: bool
    projective: bool


@dataclass
class _Dual:
    """Potentials of chains, shape (n + 1, n + 1), and shares of factors, an entry an arc of each.

    They are all the same in a factor whose score is negative.
    """

    chains: Floats
    shares: Floats

    def copy(self) -> _Dual:
        return _Dual(self.chains.copy(), self.shares.copy())


class _Products:
    """Factors as arrays: an entry an arc of each."""

    def __init__(self, factors: Sequence[tuple[Sequence[Arc], float]]) -> None:
        lengths = np.array([len(arcs) for arcs, _ in factors], dtype=np.int64)
        ends = np.array([arc for arcs, _ in factors for arc in arcs], dtype=np.int64).reshape(-1, 2)
        self.heads, self.modifiers = ends[:, 0], ends[:, 1]
        self.lengths, self.starts = lengths, np.cumsum(lengths) - lengths
        self.of = np.repeat(np.arange(len(lengths)), lengths)
        self.scores = np.array([score for _, score in factors], dtype=np.float64)
        self.negative = self.scores < 0.0

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """Of the entries of each factor."""
        return np.bincount(self.of, values, minlength=len(self.lengths))

    def tightened(self, shares: Floats, tree: NDArray[np.int64] | None) -> Floats:
        """Shares that bound products, and are tight at a tree, if there is one."""
        has = np.ones(len(self.of), dtype=np.bool_) if tree is None else tree[self.modifiers] == self.heads
        count = self.sums(has)
        part = np.clip(shares[self.starts], np.minimum(self.scores, 0.0), 0.0)
        if tree is not None:
            part = np.where(count == self.lengths, self.scores, np.where(count < self.lengths - 1, 0.0, part))
        may = ~has | (count == self.lengths)[self.of]
        positive = np.where(may, np.maximum(shares, 0.0), 0.0)
        total = self.sums(positive)
        with np.errstate(divide="ignore", invalid="ignore"):
            split = np.where(total > 0.0, self.scores / total, 0.0)[self.of] * positive
            even = np.where(may, (self.scores / self.sums(may))[self.of], 0.0)
        own = np.where(total[self.of] > 0.0, split, even)
        return np.where(self.negative[self.of], part[self.of], own)

    def slope(self, tree: NDArray[np.int64] | None, other: NDArray[np.int64]) -> Floats:
        """How the value of another tree changes with the shares, which stay tight at the tree."""
        there = (other[self.modifiers] == self.heads).astype(np.float64)
        has = np.ones(len(self.of), dtype=np.bool_) if tree is None else tree[self.modifiers] == self.heads
        may = ~has | (self.sums(has) == self.lengths)[self.of]
        mean = self.sums(there * may) / np.maximum(self.sums(may), 1.0)
        beyond = self.sums(there) - (self.lengths - 1)
        return np.where(self.negative[self.of], beyond[self.of], np.where(may, there - mean[self.of], 0.0))


class TreeCertifier(Certifier):
    """A proof of its own: the potentials of the run are not exact, and others are found that are tight at its tree.

    Every score is a whole number over a power of two, so that nothing is rounded.

    Parameters
    ----------
    heads
        Of the words, of an answer.
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
        scores = self._scores
        values = np.array([score for _, score in scores.factors])
        chains = np.zeros(0) if scores.grandparents is None else scores.grandparents
        shift = max(places(array) for array in (scores.arcs, chains, values))
        factors = zip(scores.factors, as_whole(values, shift), strict=True)
        return {
            "kind": "trees",
            "name": self.name,
            "denominator": 2**shift,
            "single_root": bool(scores.single_root),
            "projective": bool(scores.projective),
            "arcs": as_whole(scores.arcs, shift),
            "grandparents": None if scores.grandparents is None else as_whole(chains, shift),
            "factors": [[[list(arc) for arc in arcs], whole] for (arcs, _), whole in factors],
        }

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": "trees", "uses": [1, 1]}]}

    @cached_property
    def _checked(self) -> Checked:
        return Checked(0, self._data, 0)

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, [int(h) for h in self._heads(solution)]]]

    def objective(self, solution: Solution) -> Fraction:
        return self._checked.column([int(h) for h in self._heads(solution)])[0]

    def proof(self, answer: Solution, points: Sequence[Point], goal: Fraction) -> Iterator[Record] | None:
        tree = np.array([-1, *self._heads(answer)], dtype=np.int64)
        records = list(self._lines(tree, goal))
        return iter(records) if records[-1] else None

    def _lines(self, tree: NDArray[np.int64], goal: Fraction) -> Iterator[Record]:
        """All lines; an empty one at the end says that they prove nothing."""
        start = self._start(tree)
        stack = [(0, State(), start, True)]
        numbers, splits = itertools.count(1), 0
        while stack:
            node, state, dual, holds = stack.pop()
            arcs = self._scores.arcs.copy()
            for h, m in state.closed:
                arcs[h, m] = -np.inf
            claim = None if holds else self._empty(state)
            if claim is not None:
                yield {"node": node, "claim": claim}
                continue
            claim, dual, other = self._bounded(arcs, state, tree if holds else None, dual, goal, node)
            if claim is not None:
                yield {"node": node, "claim": claim}
                continue
            open_ = [m for m in range(1, len(tree)) if other[m] != tree[m] and np.isfinite(arcs[:, m]).sum() > 1]
            open_ = open_ or [m for m in range(1, len(tree)) if np.isfinite(arcs[:, m]).sum() > 1]
            if not open_ or splits == _NODES:
                # One tree is left, and potentials that are tight at it say what it is worth; or it is given up.
                self._tighten(dual, None if open_ else other)
                claim = self._exactly(dual, state, None if open_ else other)
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
            stack.append((one, State(closed=state.closed | others), dual.copy(), holds and h == tree[m]))
            stack.append((two, State(closed=state.closed | {(h, m)}), dual.copy(), holds and h != tree[m]))

    def _empty(self, state: State) -> Record | None:
        """A claim that a node has no tree."""
        given = None if self._checked.projective else _potentials(self._open(state, score=0), self._checked.single)
        empty = self._checked.least((), Fraction(0), {}, replace(state, given=given))
        return self._claim(0, empty, None, given) if empty else None

    def _claim(self, weight: int, least: Fraction, bound: Fraction | None, given: Any) -> Record:
        claim = {"weight": weight, "unit": 1, "duals": [], "counts": [], "least": [as_exact(least)]}
        claim["bound"] = None if bound is None else as_exact(bound)
        if not weight:
            claim["worth"] = as_exact(least)
        return claim if given is None else {**claim, "potentials": given}

    # --- descent -----------------------------------------------------------------------------------------------------

    def _start(self, tree: NDArray[np.int64]) -> _Dual:
        """Potentials that are tight at a tree."""
        scores, chains = self._scores, np.zeros_like(self._scores.arcs)
        if scores.grandparents is not None:
            heads = np.maximum(tree, 0)
            chains = scores.grandparents[heads, np.arange(len(tree)), :].copy()
        return _Dual(chains, np.ones(len(self._products.of)))

    @cached_property
    def _products(self) -> _Products:
        return _Products(self._scores.factors)

    def _tighten(self, dual: _Dual, tree: NDArray[np.int64] | None) -> None:
        """Bring potentials to where they are some, and tight at the tree, if there is one."""
        scores = self._scores
        if scores.grandparents is not None and tree is not None:
            own = scores.grandparents[np.maximum(tree, 0), np.arange(len(tree)), :]
            used = np.zeros(own.shape, dtype=np.bool_)
            used[tree[1:], np.arange(1, len(tree))] = True
            np.minimum(dual.chains, own, out=dual.chains, where=used)
            np.maximum(dual.chains, own, out=dual.chains, where=~used)
        if len(dual.shares):
            dual.shares = self._products.tightened(dual.shares, tree)

    def _weights(self, arcs: Floats, dual: _Dual) -> tuple[Floats, float]:
        """Scores of arcs that pay for all else, and what is left over."""
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

    def _best(self, weights: Floats) -> tuple[NDArray[np.int64], float] | None:
        scores = self._scores
        if not scores.projective:
            return arborescence(weights, single_root=scores.single_root)
        allowed = np.isfinite(weights)
        found = best_tree(Parts(np.where(allowed, weights, -np.inf)), allowed=allowed, single_root=scores.single_root)
        return None if found is None else (found[1], found[0])

    def _bounded(
        self, arcs: Floats, state: State, tree: NDArray[np.int64] | None, dual: _Dual, goal: Fraction, node: int
    ) -> tuple[Record | None, _Dual, NDArray[np.int64]]:
        """A claim that no tree of a node is better; None, where the descent ends, and a tree that is better there.

        With the tree among those of the node, steps are those of a perceptron: potentials stay tight at it, and move
        until it is the best one, by a margin.
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
            found = self._best(weights)
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
                claim = self._exactly(dual, state, tree, goal)
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
        """How the value of a tree changes with the potentials; that of the tree at which they are tight does not."""
        scores, size = self._scores, len(other)
        chains = np.zeros((size, size))
        if scores.grandparents is not None:
            chains -= scores.grandparents[np.maximum(other, 0), np.arange(size), :] > dual.chains
            chains[other[1:], np.arange(1, size)] += 1.0
            chains[0, :] = chains[:, 0] = 0.0
            np.fill_diagonal(chains, 0.0)
        return _Dual(chains, self._products.slope(tree, other) if len(dual.shares) else dual.shares)

    # --- exactly -----------------------------------------------------------------------------------------------------

    def _exactly(
        self, dual: _Dual, state: State, tree: NDArray[np.int64] | None, goal: Fraction | None = None
    ) -> Record | None:
        """A claim in whole numbers; None if it does not hold, or does not reach the goal."""
        checked = self._checked
        given: dict[str, Any] = {"factors": self._shares(dual, tree)}
        if checked.chains:
            given["chains"] = self._chains(dual, tree)
        if not checked.projective:
            weights = self._open(state)
            checked._tilt(weights, given)
            given |= _potentials(weights, checked.single)
        try:
            least = checked.least((), Fraction(-1), {}, State(closed=state.closed, given=given))
        except WrongError:
            return None
        return self._claim(1, least, -least, given) if goal is None or least >= goal else None

    def _open(self, state: State, score: int | None = None) -> list[list[Any]]:
        """Scores of the arcs that are open, or the same number for all of them."""
        own = self._checked.arcs
        return [
            [NO if (h, m) in state.closed or x == NO else x if score is None else score for m, x in enumerate(row)]
            for h, row in enumerate(own)
        ]

    def _chains(self, dual: _Dual, tree: NDArray[np.int64] | None) -> list[list[int]]:
        checked = self._checked
        assert checked.chains is not None
        rows: list[list[int]] = as_whole(dual.chains, checked.unit.bit_length() - 1)
        if tree is not None:
            for p in range(1, checked.size):
                own = checked.chains[int(tree[p])][p]
                rows[p] = [
                    min(x, r) if tree[c] == p else max(x, r) for c, (x, r) in enumerate(zip(rows[p], own, strict=True))
                ]
        return rows

    def _shares(self, dual: _Dual, tree: NDArray[np.int64] | None) -> list[list[int]]:
        checked, found, first = self._checked, list[list[int]](), 0
        values = as_whole(dual.shares, checked.unit.bit_length() - 1)
        for arcs, score in checked.factors:
            whole = values[first : first + len(arcs)]
            first += len(arcs)
            if score < 0:
                has = tree is not None and all(tree[m] == h for h, m in arcs)
                found.append([score if has else min(max(whole[0], score), 0)])
            else:
                whole[whole.index(max(whole))] += score - sum(whole)
                found.append(whole)
        return found


def _potentials(weights: list[list[Any]], single: bool) -> Record:
    """Potentials of words, sets and the root by which a best tree is paid for (Chu, Liu and Edmonds)."""
    size = len(weights)
    root = 0
    if single:  # so dear that a tree with more arcs from the root than one is worse than any other
        finite = [abs(x) for row in weights for x in row if x != NO]
        root = -2 * (size + 1) * max(finite, default=0) - 1
        weights = [[x if x == NO else x + root for x in weights[0]], *weights[1:]]
    left = [list(row) for row in weights]
    top = list(range(size))
    members = {k: [k] for k in range(1, size)}
    words, sets = [0] * (size - 1), []
    while True:
        into = {}
        for group, own in members.items():
            best, tail = max((left[h][m], h) for m in own for h in range(size) if top[h] != group)
            into[group] = (top[tail], best)
        lost = [group for group, (_, best) in into.items() if best == NO]
        if lost:  # no arc enters these words: there is no tree
            return {"words": [0] * (size - 1), "sets": [[sorted(members[lost[0]]), -1]], "root": 0}
        cycle = cycle_of_arcs({group: tail for group, (tail, _) in into.items()})
        for group in cycle or list(members):
            own, best = members[group], into[group][1]
            if len(own) == 1:
                words[own[0] - 1] += best
            elif best:
                sets.append([sorted(own), best])
            for m in own:
                for h in range(size):
                    if top[h] != group:
                        left[h][m] -= best
        if not cycle:
            break
        merged = [m for group in cycle for m in members.pop(group)]
        members[cycle[0]] = merged
        for m in merged:
            top[m] = cycle[0]
    return {"words": words, "sets": sets, "root": -root if single else 0}
