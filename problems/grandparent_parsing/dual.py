"""The combinatorial dual of a sentence: a tree and a bound, usually equal, without a linear program."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from colgen import Column, Solution
from colgen.core.columns import Key
from colgen.problems.dependency.sentence import Heads, cycle_of_arcs
from colgen.problems.grandparent_parsing.bounds import is_plain, source_of
from colgen.problems.grandparent_parsing.instance import Floats, Ints, Mask, PartScores, as_heads, tree_objective
from colgen.problems.grandparent_parsing.kernels.deadlines import expired
from colgen.problems.grandparent_parsing.kernels.dual_state import start, supply
from colgen.problems.grandparent_parsing.kernels.grandparent_dual import EPSILON, descend, descend_lazily
from colgen.problems.grandparent_parsing.pricing import grandparent_column
from colgen.problems.grandparent_parsing.standard import StandardScores, standard_scores

ITERATIONS = 1000
"""Maximum number of iterations; where the relaxation is fractional the bound never meets a tree."""

WIDTH = 4
"""Initial candidate heads per modifier in a linear program; up to twice as many if a better tree may use them."""

_NEAR = 1e-3
"""Parts within this distance of improving, in units of the scores, also become columns, because π is not exact."""


class CombinatorialDual:
    """Near-optimal dual solution of the relaxation with cuts, and the best tree found on the way.

    The dual values π are those of the ``one_gp`` rows (see
    :mod:`colgen.problems.grandparent_parsing.kernels.grandparent_dual`).  Kernels read a trained model's tables; arrays
    and other scorers are queried in batches.

    Attributes
    ----------
    bound, score
        Upper bound on the optimum of the relaxation, and so on all trees; and the score of the best tree found.  Both
        are -inf if there is no tree.  Both remain valid if time runs out.
    is_closed
        Whether bound and score are equal.
    heads
        Heads of all vertices in the best tree, shape (n + 1,).
    iterations, scored
        Number of iterations taken, and of parts scored.
    """

    def __init__(self, scores: PartScores, *, single_root: bool = False, iterations: int = ITERATIONS) -> None:
        standard = standard_scores(scores, single_root=single_root) if type(scores) is not StandardScores else scores
        self.scores = standard
        given, unit = standard.given, standard.unit
        supplied = 0
        if is_plain(given):
            bound, score, dual, state = descend_lazily(standard.arcs, source_of(given), iterations, single_root, unit)
        else:
            dual = start(standard.arcs, standard.parent_child_bounds, standard.grandparent_parent_bounds)
            state = np.array([math.inf, 1.0, 0.0, 0.0, 0.0])
            bound, score, wanted = descend(dual, iterations, single_root, -math.inf, state, unit)
            while len(wanted) and not expired():
                supply(dual, wanted, np.ascontiguousarray(standard.grandparents(wanted), dtype=np.float64))
                supplied += len(wanted)
                bound, score, wanted = descend(dual, iterations, single_root, score, state, unit)
            if score == -math.inf < bound:  # time ran out before a tree was scored
                assert standard.first_tree is not None
                dual.best[:] = -1, *standard.first_tree
                score = tree_objective(standard, standard.first_tree, siblings=False)
                bound = max(bound, score)
        self._dual = dual
        self.unit = unit
        self._gap = bound - score if score > -math.inf else 0.0
        self.is_closed = score > -math.inf and self._gap <= EPSILON * max(unit, abs(score))
        self.score: float = score + standard.constant
        self.bound: float = self.score if self.is_closed else bound + standard.constant
        self.heads: Ints = dual.best
        self.iterations = int(state[3])
        self.scored = supplied + int(state[4])

    @property
    def pi(self) -> Floats:
        """π by parent and child at the best bound."""
        return self._dual.best_pi

    @property
    def is_feasible(self) -> bool:
        return self.score > -math.inf

    def scored_parts(self) -> tuple[Ints, Floats]:
        """Return the parts (g, p, c) scored so far, shape (parts, 3), and their scores."""
        dual = self._dual
        parents, children = np.nonzero(dual.touched)
        rows, grandparents = np.nonzero(dual.known[parents, children])
        parents, children = parents[rows], children[rows]
        triples = np.stack([grandparents, parents, children], axis=1)
        return triples, dual.scores[parents, children, grandparents]

    def improving(self) -> Ints:
        """Return the first columns of a linear program: the tree's parts, and known parts that π does not price out."""
        triples, scores = self.scored_parts()
        g, p, c = triples.T
        used = (self.heads[p] == g) & (self.heads[c] == p)
        chosen: Ints = triples[used | (scores > self.pi[p, c] - _NEAR * self.unit)]
        return chosen

    def candidates(self) -> Mask:
        """Return the first arcs of a linear program by head and modifier: the tree's, and a few per modifier."""
        weights = self._dual.weights.T
        n = len(weights) - 1
        chosen = np.zeros(weights.shape, dtype=np.bool_)
        for m in range(1, n + 1):
            order = np.argsort(-weights[:, m])[: 2 * WIDTH]
            near = weights[order, m] > weights[order[0], m] - self._gap
            near[:WIDTH] = True
            chosen[order[near], m] = True
        chosen[self.heads[1:], np.arange(1, n + 1)] = True
        return chosen

    def sets(self) -> list[tuple[int, ...]]:
        """Return the token sets whose cuts have dual values at π: those that the arborescence algorithm contracts."""
        return contracted_sets(self._dual.weights.T)

    def solution(self) -> Solution:
        heads = as_heads(self.heads)
        score = tree_objective(self.scores.given, heads, siblings=False)  # the user's scores
        variables: dict[Key, float] = {("z", (head, m)): 1.0 for m, head in enumerate(heads, 1)}
        return Solution(score, _Used(heads, self._dual.scores), variables, frozenset(variables))


def contracted_sets(weights: Floats) -> list[tuple[int, ...]]:
    """Return the sets that Chu, Liu and Edmonds' algorithm contracts, smaller ones first."""
    left = weights.copy()
    left[:, 0] = -np.inf
    np.fill_diagonal(left, -np.inf)
    top = np.arange(len(left))
    found: list[tuple[int, ...]] = []
    while True:
        into: dict[int, tuple[int, float]] = {}
        for group in set(top[1:].tolist()) - {0}:
            inside = top == group
            entering = np.where(inside[:, None] | ~inside, -np.inf, left)
            h = int(entering.max(axis=1).argmax())
            into[group] = int(top[h]), float(entering[h].max())
        cycle = cycle_of_arcs({group: tail for group, (tail, _) in into.items()})
        if not cycle or any(np.isneginf(into[group][1]) for group in cycle):
            return found
        for group in cycle:
            left[:, top == group] -= into[group][1]
        merged = np.isin(top, cycle)
        top[merged] = cycle[0]
        found.append(tuple(np.flatnonzero(merged).tolist()))


class _Used(Sequence[tuple[Column, float]]):
    """Columns of a tree's parts, created on access."""

    def __init__(self, heads: Heads, scores: Floats) -> None:
        self._triples = [(heads[p - 1], p, c) for c, p in enumerate(heads, 1) if p]
        self._scores = scores

    def __len__(self) -> int:
        return len(self._triples)

    @overload
    def __getitem__(self, index: int) -> tuple[Column, float]: ...

    @overload
    def __getitem__(self, index: slice) -> list[tuple[Column, float]]: ...

    def __getitem__(self, index: int | slice) -> tuple[Column, float] | list[tuple[Column, float]]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        g, p, c = self._triples[index]
        return grandparent_column((g, p, c), float(self._scores[p, c, g])), 1.0

    def __iter__(self) -> Iterator[tuple[Column, float]]:
        return (self[k] for k in range(len(self)))
