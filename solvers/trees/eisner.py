r"""Projective dependency parsing by dynamic programming: four parsers with one interface.

Words 1 to n are numbered in sentence order; position 0 is the root.  A tree gives each word m a head, such that every
word descends from the root.  It is projective if each arc's span contains only descendants of its head.  The score of a
tree is a sum over its local parts.  The kinds of parts determine the parser:

    order       parts (besides arcs)                                    time    memory    module
    FIRST       none                                                    n³      n²        eisner_first
    SIBLING     adjacent siblings                                       n³      n²        eisner_sibling
    GRANDCHILD  adjacent siblings, outermost grandchildren              n⁴      n³        eisner_grandchild
    THIRD       all grandchildren, adjacent siblings, grand-siblings    n⁴      n³        eisner_sibling

Every parser computes the best tree and max-marginals (the value of the best tree with each arc).  The k best trees are
computed by :class:`colgen.solvers.trees.backbone.Projective`.  All work with any set of allowed arcs: an arc is
required by disallowing the other heads of its modifier.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, Shape, as_booleans, as_floats, as_indices
from colgen.solvers.trees import eisner_search as search
from colgen.solvers.trees.eisner_items import FIRST, GRANDCHILD, IMPOSSIBLE, NEG, SIBLING, THIRD, Floats, Ints, Rest

Bools = NDArray[np.bool_]

_LARGEST = 1e24
"""Largest score: sums of as many as a sentence has stay far from the value for impossible."""

_NO_PARTS = np.zeros((1, 1, 1))
_NO_TRIPLES = np.zeros((1, 1, 1, 1, 1, 1))


@dataclass(frozen=True, eq=False)
class Parts:
    """Scores of the local parts of a sentence's trees, with N positions including the root.

    Parameters
    ----------
    arcs : (N, N) array by head and modifier
        -inf marks a missing arc.  The diagonal and the root's column are ignored.
    siblings : (N, N, N) array by head, modifier and adjacent sibling
        The sibling is the one towards the head; the head itself if none exists.
    outermost : (N, N, N) array by head, modifier and the modifier's outermost modifier
        Used twice.  Within the span of the arc, the modifier itself means none.  Beyond it, the head means none.
    grandchildren : (N, N, N) array by grandparent, head and modifier
        Arcs from the root are at [0, 0, m].
    triples : (2, 2, K, K, K, K) array of scores of grandparent, head, modifier and adjacent sibling
        Axes: whether the grandparent is right of the head, whether the modifier is, and the kinds of the four words.
        Kind K - 1 means no sibling.
    kinds : (N,) array of kinds by position, 0 to K - 2

    Raises
    ------
    ValueError
        If shapes do not fit, a score is not finite or exceeds ±1e24 (except -inf for arcs), or no parser supports the
        combination of parts.
    """

    arcs: Floats
    siblings: Floats | None = None
    outermost: Floats | None = None
    grandchildren: Floats | None = None
    triples: Floats | None = None
    kinds: Ints | None = None

    def __post_init__(self) -> None:
        square: Shape = ("positions", "positions")
        arcs = as_floats(self.arcs, "arcs", shape=square, minus_infinity=True).copy()
        size = len(arcs)
        if size < 2:
            raise ArrayError(f"arcs: expected at least two positions including the root, got {size}")
        np.fill_diagonal(arcs, 0.0)
        arcs[:, 0] = 0.0
        _check_size(np.where(np.isneginf(arcs), 0.0, arcs), "arcs")
        object.__setattr__(self, "arcs", arcs)
        for name in ("siblings", "outermost", "grandchildren"):
            scores = getattr(self, name)
            if scores is not None:
                scores = as_floats(scores, name, shape=(size, size, size))
                _check_size(scores, name)
                object.__setattr__(self, name, scores)
        if self.outermost is not None and (self.grandchildren is not None or self.triples is not None):
            raise ArrayError("outermost: no parser supports it together with grandchildren or triples")
        if (self.triples is None) != (self.kinds is None):
            raise ArrayError("triples and kinds must be given together")
        if self.triples is not None and self.kinds is not None:
            triples = as_floats(self.triples, "triples", shape=(2, 2, "kinds", "kinds", "kinds", "kinds"))
            _check_size(triples, "triples")
            kinds = as_indices(self.kinds, "kinds", upper=max(triples.shape[5] - 1, 0), shape=(size,))
            object.__setattr__(self, "triples", triples)
            object.__setattr__(self, "kinds", kinds)

    def rescored(self, arcs: Floats, **others: Any) -> Parts:
        """Return parts of the same kinds with other scores (and kinds), which are not validated."""
        made = copy.copy(self)
        for name, scores in {"arcs": arcs, **others}.items():
            object.__setattr__(made, name, scores)
        return made

    @property
    def size(self) -> int:
        """Number of positions, including the root."""
        return len(self.arcs)

    @property
    def order(self) -> int:
        """The order of the parser for these parts."""
        if self.grandchildren is not None or self.triples is not None:
            return THIRD
        if self.outermost is not None:
            return GRANDCHILD
        return FIRST if self.siblings is None else SIBLING

    def rest(self, single_root: bool) -> Rest:
        """Return the kernel arguments other than the arc scores; missing parts score zero."""
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
        triple = self.triples
        if triple is None:
            triple = np.zeros((2, 2, 2, 2, 2, 2)) if order == THIRD else _NO_TRIPLES
        kinds = np.zeros(size, dtype=np.int64) if self.kinds is None else self.kinds
        return order, sib, grand, triple, kinds, bool(single_root)

    def allowed(self, allowed: ArrayLike | None = None) -> Bools:
        """Return the usable arcs: those allowed, without missing arcs, arcs to the root and self-loops."""
        size = self.size
        if allowed is None:
            usable = np.ones((size, size), dtype=np.bool_)
        else:
            usable = as_booleans(allowed, "allowed", shape=(size, size)).copy()
        np.fill_diagonal(usable, False)
        usable[:, 0] = False
        usable &= self.arcs > -np.inf
        return usable

    def score(self, heads: ArrayLike) -> float:
        """Return the score of a tree, recomputed part by part from heads of shape (N,).  ``heads[0]`` is ignored."""
        tree = as_indices(heads, "heads", upper=self.size, low=-1, shape=(self.size,)).tolist()
        modifiers: list[list[int]] = [[] for _ in range(self.size)]
        for m in range(1, self.size):
            modifiers[tree[m]].append(m)
        total = 0.0
        for h, own in enumerate(modifiers):
            g = tree[h] if h > 0 else 0
            for number, m in enumerate(own):
                total += float(self.arcs[h, m])
                adjacent = number + 1 if m < h else number - 1  # the next one on the side of the head
                s = own[adjacent] if 0 <= adjacent < len(own) and (own[adjacent] < h) == (m < h) else h
                if self.siblings is not None:
                    total += float(self.siblings[h, m, s])
                if self.outermost is not None:
                    below = modifiers[m]
                    left = below[0] if below and below[0] < m else None
                    right = below[-1] if below and below[-1] > m else None
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


def best_tree(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> tuple[float, Ints] | None:
    """Return score and heads of the best projective tree.  None if the allowed arcs contain no tree.

    ``allowed`` is an (N, N) mask of usable arcs, by default all.  ``single_root`` allows the root only one modifier.
    """
    arc, rest, chart = prepare(parts, allowed, single_root)
    heads = np.empty(parts.size, dtype=np.int64)
    value = search.best_with_heads(arc, rest, chart, heads)
    if value < IMPOSSIBLE:
        return None
    return value, heads


def max_marginals(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> Floats:
    """Return the value of the best tree with each arc, shape (N, N); -inf if the arc is in no tree."""
    arc, rest, chart = prepare(parts, allowed, single_root)
    best = np.full((parts.size, parts.size), NEG)
    if search.inside(arc, rest, chart, 1, parts.size) > IMPOSSIBLE:
        outside = np.empty_like(chart)
        search.marginals(arc, rest, chart, outside, best, 1, parts.size)
    best[best < IMPOSSIBLE] = -np.inf
    return best


def prepare(parts: Parts, allowed: ArrayLike | None, single_root: bool) -> tuple[Floats, Rest, Floats]:
    """Return the scores of the allowed arcs, the other scores, and an empty chart, for kernels."""
    arc = np.where(parts.allowed(allowed), parts.arcs, NEG)
    return arc, parts.rest(single_root), np.empty(search.chart_size(parts.order, parts.size))


def _check_size(values: Floats, name: str) -> None:
    if values.size and not max(-values.min(), values.max()) <= _LARGEST:
        raise ArrayError(f"{name}: expected scores within ±{_LARGEST:g}")
