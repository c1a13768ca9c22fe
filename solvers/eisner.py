r"""Projective dependency parsing by dynamic programming: four parsers behind one interface.

Words 1 to n stand in the order of the sentence, position 0 is the root.  A tree gives each word m a head, so that every
word descends from the root; it is projective if each arc's span holds descendants of its head alone.  The score of a
tree is a sum over its local parts, and which parts there are decides the parser:

    order       parts (beside the arcs)                                 time    memory    module
    FIRST       none                                                    n³      n²        eisner_first
    SIBLING     adjacent siblings                                       n³      n²        eisner_sibling
    GRANDCHILD  adjacent siblings, outermost grandchildren              n⁴      n³        eisner_grandchild
    THIRD       all grandchildren, adjacent siblings, grand-siblings    n⁴      n³        eisner_third

Every parser gives the best tree, the k best, and max-marginals (the value of the best tree with each arc), under any
set of allowed arcs: an arc is forbidden by disallowing it, and required by disallowing the other heads of its modifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solvers import eisner_search as search
from solvers.arrays import as_integers, as_numbers
from solvers.eisner_first import NEG, Floats, Ints
from solvers.eisner_search import FIRST, GRANDCHILD, SIBLING, THIRD

Bools = NDArray[np.bool_]

_LARGEST = 1e12
_NO_PARTS = np.zeros((1, 1, 1))
_NO_TRIPLES = np.zeros((1, 1, 1, 1, 1, 1))


@dataclass(frozen=True, eq=False)
class Parts:
    """Scores of the local parts of a sentence's trees.  N positions, the root among them.

    Parameters
    ----------
    arcs
        Shape (N, N), by head and modifier.  The diagonal and the column of the root count for nothing.
    siblings
        Shape (N, N, N), by head, modifier and adjacent sibling on the side of the head; the head itself in place of a
        sibling that is not there.
    outermost
        Shape (N, N, N), by head, modifier and the modifier's outermost modifier: within the span of the arc (the
        modifier itself if there is none), and beyond it (the head if there is none).
    grandchildren
        Shape (N, N, N), by grandparent, head and modifier; of arcs from the root, [0, 0, m].
    triples, kinds
        Scores of grandparent, head, modifier and adjacent sibling, shape (2, 2, K, K, K, K): is the grandparent right
        of the head, is the modifier, and the kinds of the four words, K - 1 for no sibling.  Kinds by position, shape
        (N,), each in 0, ..., K - 2.

    Raises
    ------
    ValueError
        If shapes do not fit, a score is not finite or beyond ±1e12, or parts that no parser holds are given together.
    """

    arcs: Floats
    siblings: Floats | None = None
    outermost: Floats | None = None
    grandchildren: Floats | None = None
    triples: Floats | None = None
    kinds: Ints | None = None

    def __post_init__(self) -> None:
        arcs = _array(self.arcs, "arcs", 2).copy()
        size = len(arcs)
        if arcs.shape != (size, size) or size < 2:
            raise ValueError(f"arcs: expected a square matrix of two positions or more, not shape {arcs.shape}")
        np.fill_diagonal(arcs, 0.0)
        arcs[:, 0] = 0.0
        _check_numbers(arcs, "arcs")
        object.__setattr__(self, "arcs", arcs)
        for name in ("siblings", "outermost", "grandchildren"):
            scores = getattr(self, name)
            if scores is not None:
                scores = _array(scores, name, 3)
                if scores.shape != (size, size, size):
                    raise ValueError(f"{name}: expected the shape {(size,) * 3}, not {scores.shape}")
                _check_numbers(scores, name)
                object.__setattr__(self, name, scores)
        if self.outermost is not None and (self.grandchildren is not None or self.triples is not None):
            raise ValueError("no parser holds outermost grandchildren together with all grandchildren or triples")
        if (self.triples is None) != (self.kinds is None):
            raise ValueError("triples and kinds must be given together")
        if self.triples is not None and self.kinds is not None:
            triples = _array(self.triples, "triples", 6)
            kinds = as_integers(self.kinds, "kinds")
            k = triples.shape[5]
            if triples.shape != (2, 2, k, k, k, k) or kinds.shape != (size,):
                raise ValueError(
                    f"expected triples of shape (2, 2, K, K, K, K) and kinds of shape ({size},), "
                    f"not {triples.shape} and {kinds.shape}"
                )
            if kinds.min() < 0 or kinds.max() > k - 2:
                raise ValueError(f"kinds: expected numbers in 0, ..., {k - 2}")
            _check_numbers(triples, "triples")
            object.__setattr__(self, "triples", triples)
            object.__setattr__(self, "kinds", kinds)

    @property
    def size(self) -> int:
        """Number of positions, the root among them."""
        return len(self.arcs)

    @property
    def order(self) -> int:
        """Which parser holds these parts."""
        if self.grandchildren is not None or self.triples is not None:
            return THIRD
        if self.outermost is not None:
            return GRANDCHILD
        return FIRST if self.siblings is None else SIBLING

    def kernel_arguments(self) -> tuple[Floats, Floats, Floats, Ints]:
        """Siblings, grandchildren, triples and kinds as the kernels take them: parts that are not given score zero."""
        order, size = self.order, self.size
        zeros = (
            np.zeros((size, size, size))
            if order >= THIRD or (order == GRANDCHILD and self.siblings is None)
            else _NO_PARTS
        )
        sib = zeros if self.siblings is None else self.siblings
        if order == THIRD:
            grand = zeros if self.grandchildren is None else self.grandchildren
        else:
            grand = _NO_PARTS if self.outermost is None else self.outermost
        triple = _NO_TRIPLES if self.triples is None else self.triples
        kinds = np.zeros(size, dtype=np.int64) if self.kinds is None else self.kinds
        if self.triples is None:
            triple = np.zeros((2, 2, 2, 2, 2, 2)) if order == THIRD else _NO_TRIPLES
        return sib, grand, triple, kinds

    def allowed(self, allowed: ArrayLike | None = None) -> Bools:
        """The arcs that may be used: those given, without arcs to the root and from a word to itself."""
        size = self.size
        if allowed is None:
            usable = np.ones((size, size), dtype=np.bool_)
        else:
            usable = np.array(allowed, dtype=np.bool_)
            if usable.shape != (size, size):
                raise ValueError(f"allowed: expected the shape {(size, size)}, not {usable.shape}")
        np.fill_diagonal(usable, False)
        usable[:, 0] = False
        return usable

    def score(self, heads: ArrayLike) -> float:
        """Score of a tree, part by part: heads of shape (N,), ``heads[0]`` counts for nothing."""
        tree = np.asarray(heads, dtype=np.int64)
        total = 0.0
        for m in range(1, self.size):
            h = int(tree[m])
            total += float(self.arcs[h, m])
            between = range(m - 1, h, -1) if h < m else range(m + 1, h)
            s = next((w for w in between if tree[w] == h), h)
            g = int(tree[h]) if h > 0 else 0
            if self.siblings is not None:
                total += float(self.siblings[h, m, s])
            if self.outermost is not None:
                left = next((w for w in range(1, m) if tree[w] == m), None)
                right = next((w for w in range(self.size - 1, m, -1) if tree[w] == m), None)
                within, beyond = (left, right) if h < m else (right, left)
                total += float(self.outermost[h, m, m if within is None else within])
                total += float(self.outermost[h, m, h if beyond is None else beyond])
            if self.grandchildren is not None:
                total += float(self.grandchildren[g, h, m])
            if self.triples is not None and self.kinds is not None:
                k, none = self.kinds, self.triples.shape[5] - 1
                last = none if s == h else int(k[s])
                total += float(self.triples[int(g > h), int(m > h), k[g], k[h], k[m], last])
        return total


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees, best first: ``values`` of shape (k,), ``heads`` of shape (k, N) with ``heads[:, 0] == -1``."""

    values: Floats
    heads: Ints


def best_tree(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> tuple[float, Ints] | None:
    """The best projective tree and its score; None if the allowed arcs hold no tree.

    Parameters
    ----------
    allowed
        Shape (N, N): which arcs may be used; by default all.
    single_root
        Whether the root must have exactly one modifier.
    """
    arc, arguments, chart = _prepare(parts, allowed)
    order = parts.order
    value = search.inside(order, arc, *arguments, single_root, chart)
    if value < 0.5 * NEG:
        return None
    heads = np.empty(parts.size, dtype=np.int64)
    search.best_heads(order, arc, *arguments, single_root, chart, heads)
    return value, heads


def k_best_trees(parts: Parts, k: int, *, allowed: ArrayLike | None = None, single_root: bool = True) -> Trees:
    """The k best projective trees, or all if there are fewer."""
    if k < 1:
        raise ValueError(f"k: expected one tree or more, not {k}")
    arc, arguments, chart = _prepare(parts, allowed)
    search.inside(parts.order, arc, *arguments, single_root, chart)
    values, heads = np.empty(k), np.empty((k, parts.size), dtype=np.int64)
    found = search.k_best(k, parts.order, arc, *arguments, single_root, chart, values, heads)
    return Trees(values[:found], heads[:found])


def max_marginals(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> Floats:
    """The value of the best tree with each arc, shape (N, N); -inf where the arc is in no tree."""
    arc, arguments, chart = _prepare(parts, allowed)
    best = np.full((parts.size, parts.size), NEG)
    if search.inside(parts.order, arc, *arguments, single_root, chart) > 0.5 * NEG:
        search.marginals(parts.order, arc, *arguments, single_root, chart, np.empty_like(chart), best)
    best[best < 0.5 * NEG] = -np.inf
    return best


def _prepare(parts: Parts, allowed: ArrayLike | None) -> tuple[Floats, tuple[Floats, Floats, Floats, Ints], Floats]:
    arc = np.where(parts.allowed(allowed), parts.arcs, NEG)
    return arc, parts.kernel_arguments(), np.empty(search.chart_size(parts.order, parts.size))


def _array(values: ArrayLike, name: str, dimensions: int) -> Floats:
    array = as_numbers(values, name)
    if array.ndim != dimensions:
        raise ValueError(f"{name}: expected {dimensions} dimensions, not shape {array.shape}")
    return array


def _check_numbers(values: Floats, name: str) -> None:
    if not (np.abs(values) <= _LARGEST).all():  # false of NaN as well
        raise ValueError(f"{name}: expected finite scores within ±1e12")
