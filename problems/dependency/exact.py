"""Exact integer tree scores, and potentials that bound all trees without rounding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.certificate.certifier import Record
from colgen.certificate.checker_pricing import NO
from colgen.certificate.checker_trees import TreePricing as Checked
from colgen.certificate.scaling import places, to_integers, to_lists
from colgen.problems.dependency.sentence import cycle_of_arcs
from colgen.solvers.trees.eisner import Parts, best_tree

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Integers = NDArray[Any]
"""Arrays of integers: 64 bits, or Python integers if needed."""

Arc = tuple[int, int]

_EXACT = 2**53
"""Integer sums up to this size are exact in floating point."""


@dataclass(frozen=True)
class TreeScores:
    """Scores of a tree.

    Attributes
    ----------
    arcs
        By head and modifier, shape (n + 1, n + 1); -inf where there is no arc.
    grandparents
        By grandparent, parent, child, or None.
    factors
        Sets of arcs, each with the score of a tree that contains all of them.
    """

    arcs: Floats
    grandparents: Floats | None
    factors: Sequence[tuple[Sequence[Arc], float]]
    single_root: bool
    projective: bool


class ExactProducts:
    """Factors as arrays with one entry per arc of each factor."""

    def __init__(self, factors: Sequence[tuple[Sequence[Arc], float]]) -> None:
        lengths = np.array([len(arcs) for arcs, _ in factors], dtype=np.int64)
        ends = np.array([arc for arcs, _ in factors for arc in arcs], dtype=np.int64).reshape(-1, 2)
        self.heads, self.modifiers = ends[:, 0], ends[:, 1]
        self.lengths, self.starts = lengths, np.cumsum(lengths) - lengths
        self.of = np.repeat(np.arange(len(lengths)), lengths)
        self.scores = np.array([score for _, score in factors], dtype=np.float64)
        self.negative = self.scores < 0.0

    def sums(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.bincount(self.of, values, minlength=len(self.lengths))

    def tighten(self, shares: Floats, tree: NDArray[np.int64] | None) -> Floats:
        """Return shares that bound the factors, and are tight at a tree if one is given."""
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
        """Return the derivative of another tree's value with respect to shares that stay tight at ``tree``."""
        there = (other[self.modifiers] == self.heads).astype(np.float64)
        has = np.ones(len(self.of), dtype=np.bool_) if tree is None else tree[self.modifiers] == self.heads
        may = ~has | (self.sums(has) == self.lengths)[self.of]
        mean = self.sums(there * may) / np.maximum(self.sums(may), 1.0)
        beyond = self.sums(there) - (self.lengths - 1)
        return np.where(self.negative[self.of], beyond[self.of], np.where(may, there - mean[self.of], 0.0))


class IntegerScores:
    """Scores times 2 ** ``shift``, which makes them exact integers, and bounds from potentials."""

    def __init__(self, scores: TreeScores) -> None:
        self._scores, self.products = scores, ExactProducts(scores.factors)
        chains, values = scores.grandparents, self.products.scores
        self.shift = max(map(places, (scores.arcs, values, np.zeros(0) if chains is None else chains)))
        size = len(scores.arcs)
        # Sums: an arc pays for 2 size chains and its factors; potentials sum up to 8 size² arcs.
        self._room = (8 * (size + 2) ** 2 * (2 * size + 4 + len(self.products.of))).bit_length()
        self._arcs, self._values = self._to_integers(scores.arcs), self._to_integers(values)
        self._chains = None if chains is None else self._to_integers(chains)
        self._scored = None if chains is None else np.isfinite(chains)
        self._there: Mask = np.isfinite(scores.arcs)
        self._there[:, 0] = False
        np.fill_diagonal(self._there, False)

    def _to_integers(self, array: Floats) -> Integers:
        return to_integers(array, self.shift, self._room)

    @cached_property
    def data(self) -> Record:
        """The scores in the form that instances use in certificates."""
        scores, chains, scored = self._scores, self._chains, self._scored
        factors = zip(scores.factors, self._values.tolist(), strict=True)
        return {
            "denominator": 2**self.shift,
            "single_root": bool(scores.single_root),
            "projective": bool(scores.projective),
            "arcs": to_lists(self._arcs, np.isfinite(scores.arcs)),
            "grandparents": None if chains is None or scored is None else to_lists(chains, scored),
            "factors": [[[[int(h), int(m)] for h, m in arcs], integer] for (arcs, _), integer in factors],
        }

    def total(self, heads: Sequence[int]) -> int:
        head, words = np.array([0, *heads]), np.arange(1, len(heads) + 1)
        found = int(self._arcs[head[1:], words].sum())
        if self._chains is not None:
            under = words[head[1:] > 0]
            found += int(self._chains[head[head[under]], head[under], under].sum())
        own = self.products
        return found + int(self._values[own.sums(head[own.modifiers] == own.heads) == own.lengths].sum())

    # --- bounds ------------------------------------------------------------------------------------------------------

    def bound(
        self, chains: Floats, shares: Floats, closed: Iterable[Arc], tree: NDArray[np.int64] | None
    ) -> tuple[int, Record] | None:
        """Return an upper bound on trees without the closed arcs, and its potentials; None if nothing is proved.

        The real-valued potentials ``chains`` and ``shares`` are rounded to integers, tight at ``tree`` unless it is
        None.
        """
        there, given, constant = self._open(closed), Record(), 0
        weights = np.where(there, self._arcs, 0)
        if self._chains is not None and self._scored is not None:
            pi = self._tight_chains(chains, tree)
            given["chains"] = pi.tolist()
            earned = np.where(there[None, :, :] & self._scored, np.maximum(self._chains - pi[None, :, :], 0), 0)
            n = np.arange(len(there))
            earned[n, :, n] = 0
            pi[0, :] = 0
            weights = np.where(there, weights + earned.sum(axis=2) + pi, 0)
        own = self.products
        if len(own.of):
            parts = self._tight_shares(shares, tree)
            negative = own.negative[own.of]
            if (parts[~negative] < 0).any():
                return None
            all_there = own.sums(~there[own.heads, own.modifiers]) == 0
            weights = weights.astype(np.result_type(weights, parts))
            np.add.at(weights, (own.heads, own.modifiers), np.where(all_there[own.of], parts, 0))
            constant -= int((parts[own.starts] * (own.lengths - 1))[all_there & own.negative].sum())
            ends = zip(own.starts.tolist(), (own.starts + np.where(own.negative, 1, own.lengths)).tolist(), strict=True)
            every = parts.tolist()
            given["factors"] = [every[first:end] for first, end in ends]
        else:
            given["factors"] = []
        if self._scores.projective:
            best = self._best_projective(weights, there)
            return None if best is None else (constant + best, given)
        paid, best = potentials(weights, there, self._scores.single_root)
        return constant + best, given | paid

    def empty(self, closed: Iterable[Arc]) -> tuple[Record | None] | None:
        """Return a proof that no tree exists, a 1-tuple of potentials (None if not needed); None if a tree exists."""
        there = self._open(closed)
        nothing = np.zeros(there.shape, dtype=np.int64)
        if self._scores.projective:
            return (None,) if self._best_projective(nothing, there) is None else None
        given, best = potentials(nothing, there, self._scores.single_root)
        return (given,) if best < 0 else None

    def _open(self, closed: Iterable[Arc]) -> Mask:
        there = self._there.copy()
        for h, m in closed:
            there[h, m] = False
        return there

    def _tight_chains(self, chains: Floats, tree: NDArray[np.int64] | None) -> Integers:
        pi = self._to_integers(chains)
        if tree is not None:
            assert self._chains is not None
            assert self._scored is not None
            words, heads = np.arange(len(tree)), np.maximum(tree, 0)
            own, scored = self._chains[heads, words, :], self._scored[heads, words, :]
            used = np.zeros(own.shape, dtype=np.bool_)
            used[tree[1:], words[1:]] = True
            tight = np.where(used, np.minimum(pi, own), np.maximum(pi, own))
            scored[0, :] = False
            pi = np.where(scored, tight, pi)
        return pi

    def _tight_shares(self, shares: Floats, tree: NDArray[np.int64] | None) -> Integers:
        """Return integer shares that add up to the scores; negative factors get one common share."""
        own, parts = self.products, self._to_integers(shares)
        largest = np.maximum.reduceat(parts, own.starts)
        heaviest = np.flatnonzero(parts == largest[own.of])
        _, first = np.unique(own.of[heaviest], return_index=True)
        left = self._values - np.add.reduceat(parts, own.starts)
        shared = parts.astype(np.result_type(parts, left))
        shared[heaviest[first]] += left
        part = np.minimum(np.maximum(parts[own.starts], self._values), 0)
        if tree is not None:
            part = np.where(own.sums(tree[own.modifiers] == own.heads) == own.lengths, self._values, part)
        return np.where(own.negative[own.of], part[own.of], shared)

    def _best_projective(self, weights: Integers, there: Mask) -> int | None:
        """Return the score of the best projective tree; None if there is none."""
        single, size = self._scores.single_root, len(weights)
        if int(np.abs(weights).max()) * 2 * size < _EXACT:
            own = np.where(there, weights, 0).astype(np.float64)
            found = best_tree(Parts(np.where(there, own, -np.inf)), allowed=there, single_root=single)
            return None if found is None else int(found[0])
        rows = [[NO if x is None else x for x in row] for row in to_lists(weights, there)]
        best = Checked(0, self.data, 0).best_projective(rows)
        return None if best == NO else int(best)


def potentials(weights: Integers, there: Mask, single: bool) -> tuple[Record, int]:
    """Return potentials of words, sets and the root that prove the optimum of an arborescence, and the optimum.

    Method: Chu, Liu and Edmonds.
    """
    size, largest = len(weights), int(np.abs(weights).max(initial=0))
    root = 0
    if single:  # a penalty that makes trees with several root arcs worse than all others
        root = -2 * (size + 1) * largest - 1
        weights = weights.copy()
        weights[0] += root
    never = -4 * (size + 2) ** 2 * largest - 4
    top = np.arange(size)
    members = {k: [k] for k in range(1, size)}
    words, sets = [0] * (size - 1), list[list[Any]]()
    while True:
        left = np.where(there & (top[:, None] != top[None, :]), weights, never)
        tails = left.argmax(axis=0)
        bests, groups = left[tails, np.arange(size)].tolist(), top[tails].tolist()
        into = {}
        for group, own in members.items():
            m = max(own, key=bests.__getitem__)
            into[group] = (groups[m], bests[m])
        lost = [group for group, (_, best) in into.items() if best == never]
        if lost:  # no arc enters these words, so there is no tree
            return {"words": [0] * (size - 1), "sets": [[sorted(members[lost[0]]), -1]], "root": 0}, -1
        cycle = cycle_of_arcs({group: tail for group, (tail, _) in into.items()})
        paid = np.zeros(size, dtype=weights.dtype)
        for group in cycle or list(members):
            own, best = members[group], into[group][1]
            if len(own) == 1:
                words[own[0] - 1] += best
            elif best:
                sets.append([sorted(own), best])
            paid[own] = best
        if not cycle:
            break
        weights = weights - paid
        merged = [m for group in cycle for m in members.pop(group)]
        members[cycle[0]] = merged
        top[merged] = cycle[0]
    found = {"words": words, "sets": sets, "root": -root if single else 0}
    return found, sum(words) + sum(y for _, y in sets) + found["root"]
