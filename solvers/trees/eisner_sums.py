r"""Sums over all projective trees: log-partition functions, marginals of all parts, derivatives, samples.

The recursions of a parser (:mod:`colgen.solvers.trees.eisner_search`) with sums instead of maxima.  Every tree has one
derivation, so the value of an item, log Σ exp over the ways to build it, counts each of its subtrees once.  Given that
an item is in the tree, way k has probability exp(value of the way - value of the item).  Probabilities, their
derivatives in a direction, and samples are computed from the goal down, without division or overflow.

Parts are those of :class:`colgen.solvers.trees.eisner.Parts`, except outermost grandchildren.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from colgen.solvers.arrays import ArrayError
from colgen.solvers.kernel_cache import njit
from colgen.solvers.kernels import inner, int64
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import (
    FIRST,
    GRANDCHILD,
    IMPOSSIBLE,
    NEG,
    THIRD,
    Floats,
    Ints,
    Rest,
    Scores,
    Ways,
    allocate_ways,
    scores_of,
    value_of,
)
from colgen.solvers.trees.eisner_search import expand, goal

Means = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class TreeSums:
    """Sums over the projective trees of a sentence.

    ``log_partition`` is -inf if there is no tree.  All means are then zero.  ``means`` has the expected number of
    occurrences of each part, in the names and shapes of the given parts.
    """

    log_partition: float
    means: dict[str, Floats]
    _parts: Parts
    _arc: Floats
    _rest: Rest
    _chart: Floats

    def tangent(self, **directions: ArrayLike) -> tuple[float, dict[str, Floats]]:
        """Return the derivatives of ``log_partition`` and of ``means`` in a direction of the scores, by names of parts.

        Second derivatives are symmetric.  So let a function have the direction as its gradient with respect to the
        means.  The derivatives of the means are its gradient with respect to the scores.
        """
        unknown = directions.keys() - self.means.keys()
        if unknown:
            raise ArrayError(f"directions: expected names among {sorted(self.means)}, got {sorted(unknown)}")
        given: dict[str, Any] = {name: np.zeros(mean.shape) for name, mean in self.means.items()}
        for name, direction in directions.items():
            given[name] = np.array(direction, dtype=np.float64)
            if given[name].shape != self.means[name].shape:
                raise ArrayError(f"{name}: expected shape {self.means[name].shape}, got {given[name].shape}")
        along = self._parts.rescored(**given)
        if self.log_partition == -np.inf:
            return 0.0, {name: np.zeros(mean.shape) for name, mean in self.means.items()}
        means, moved = _zero_means(self._arc, self._rest), _zero_means(self._arc, self._rest)
        single_root = bool(self._rest[5])
        first = _down(self._arc, self._rest, along.arcs, along.rest(single_root), True, self._chart, means, moved)
        return first, _named(self._parts, moved)

    def sample(self, generator: np.random.Generator) -> Ints | None:
        """Return the heads of a tree drawn with its probability, shape (N,), -1 for the root.  None if none exists."""
        if self.log_partition == -np.inf:
            return None
        heads = np.full(len(self._arc), -1)
        # each complete item is opened at most once for each word below it, and so is each other item
        _sample(self._arc, self._rest, self._chart, generator.random(8 * len(self._arc)), heads)
        return heads


def projective_sums(parts: Parts, *, allowed: ArrayLike | None = None, single_root: bool = True) -> TreeSums:
    """Compute sums over the projective trees of a sentence.

    Arguments as for :func:`colgen.solvers.trees.eisner.best_tree`.
    """
    if parts.order == GRANDCHILD:
        raise ArrayError("outermost: sums over trees do not support outermost grandchildren")
    arc = np.where(parts.allowed(allowed), parts.arcs, NEG)
    rest = parts.rest(single_root)
    size = parts.size
    chart = np.full(
        2 * size * size if parts.order == FIRST else 3 * size**2 * (size if parts.order == THIRD else 1), NEG
    )
    _up(arc, rest, chart)
    value = float(chart[goal(parts.order, size)])
    means = _zero_means(arc, rest)
    if value < IMPOSSIBLE:
        return TreeSums(-np.inf, _named(parts, means), parts, arc, rest, chart)
    _down(arc, rest, arc, rest, False, chart, means, means)
    return TreeSums(value, _named(parts, means), parts, arc, rest, chart)


def _zero_means(arc: Floats, rest: Rest) -> Means:
    return np.zeros(arc.shape), np.zeros(rest[1].shape), np.zeros(rest[2].shape), np.zeros(rest[3].shape)


def _named(parts: Parts, means: Means) -> dict[str, Floats]:
    names = "arcs", "siblings", "grandchildren", "triples"
    return {name: mean for name, mean in zip(names, means, strict=True) if getattr(parts, name) is not None}


@inner
def _fill(item: int, scores: Scores, chart: Floats, ways: Ways) -> None:
    """Compute the value of an item: log Σ exp over the ways to build it."""
    count, h, m = expand(item, scores, ways)
    if h >= 0 and scores.arc[h, m] < IMPOSSIBLE:
        chart[item] = NEG
        return
    most = NEG
    for k in range(count):
        ways.score[k] = value_of(ways, k, chart)
        most = max(most, ways.score[k])
    if most < IMPOSSIBLE:
        chart[item] = NEG
        return
    total = 0.0
    for k in range(count):
        total += np.exp(ways.score[k] - most)
    chart[item] = most + np.log(total)


@njit(cache=True, no_cpython_wrapper=True)
def _items(size: int, third: bool, siblings: bool, order: Ints) -> int:
    """Write all items such that each follows those that it is built from.  Return their number."""
    square = size * size
    contexts = size if third else 1
    block = contexts * square
    count = 0
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            for g in range(contexts if i > 0 else 1):
                if third and i > 0 and i <= g <= j:
                    continue
                if siblings and i > 0:
                    order[count] = 2 * block + (g * size + i) * size + j
                    count += 1
                for kind in range(1, -1, -1):
                    order[count] = kind * block + (g * size + i) * size + j
                    count += 1
                    if i > 0:
                        order[count] = kind * block + (g * size + j) * size + i
                        count += 1
    return count


@njit(cache=True, nogil=True)
def _up(arc: Floats, rest: Rest, chart: Floats) -> None:
    scores = scores_of(arc, rest)
    ways = allocate_ways(len(arc))
    order = np.empty(len(chart), np.int64)
    count = _items(len(arc), scores.order == THIRD, scores.order != FIRST, order)
    for k in range(count):
        _fill(order[k], scores, chart, ways)


@inner
def _add_means(item: int, way: int, h: int, m: int, scores: Scores, value: float, means: Means) -> None:
    """Add ``value`` to the means of the arc from h to m and of its other parts in this way to build an item."""
    arcs, sib, grand, triple = means
    arcs[h, m] += value
    if scores.order == FIRST:
        return
    size = len(scores.arc)
    s = h if way == 0 else min(h, m) + way
    sib[h % len(sib), m % len(sib), s % len(sib)] += value
    if scores.order == THIRD:
        g = item % (size * size * size) // (size * size)
        grand[g, h, m] += value
        kinds = scores.kinds
        last = triple.shape[5] - 1 if way == 0 else kinds[s]
        triple[1 if g > h else 0, 1 if m > h else 0, kinds[g], kinds[h], kinds[m], last] += value


@njit(cache=True, nogil=True)
def _down(
    arc: Floats,
    rest: Rest,
    arc_direction: Floats,
    rest_direction: Rest,
    moving: bool,
    chart: Floats,
    means: Means,
    moved: Means,
) -> float:
    """Write means and, if ``moving``, their derivatives in a direction.  Return the derivative of the goal's value."""
    scores, along = scores_of(arc, rest), scores_of(arc_direction, rest_direction)
    size = len(arc)
    ways, other = allocate_ways(size), allocate_ways(size)
    order = np.empty(len(chart), np.int64)
    count = _items(size, scores.order == THIRD, scores.order != FIRST, order)
    slope = np.zeros(len(chart) if moving else 1)  # derivatives of the items' values
    if moving:
        for number in range(count):
            item = order[number]
            if chart[item] < IMPOSSIBLE:
                continue
            found, _, _ = expand(item, scores, ways)
            expand(item, along, other)
            for k in range(found):
                share = np.exp(value_of(ways, k, chart) - chart[item])
                if share > 0.0:
                    slope[item] += share * value_of(other, k, slope)
    top = goal(scores.order, size)
    chance, gain = np.zeros(len(chart)), np.zeros(len(chart) if moving else 1)
    chance[top] = 1.0
    for number in range(count - 1, -1, -1):
        item = order[number]
        if chance[item] == 0.0:
            continue
        found, h, m = expand(item, scores, ways)
        if moving:
            expand(item, along, other)
        for k in range(found):
            given = np.exp(value_of(ways, k, chart) - chart[item])
            if given == 0.0:
                continue
            share = chance[item] * given
            change = 0.0
            if moving:
                change = gain[item] * given + share * (value_of(other, k, slope) - slope[item])
            if h >= 0:
                _add_means(item, k, h, m, scores, share, means)
                if moving:
                    _add_means(item, k, h, m, scores, change, moved)
            for part in (ways.first[k], ways.second[k]):
                if part >= 0:
                    chance[part] += share
                    if moving:
                        gain[part] += change
    return slope[top] if moving else 0.0


@njit(cache=True, nogil=True)
def _sample(arc: Floats, rest: Rest, chart: Floats, drawn: Floats, heads: Ints) -> None:
    scores, size = scores_of(arc, rest), len(arc)
    ways, stack = allocate_ways(size), np.empty(6 * size + 8, np.int64)
    stack[0], top = goal(scores.order, size), int64(1)
    used = 0
    while top > 0:
        top -= 1
        item = stack[top]
        count, h, m = expand(item, scores, ways)
        if m >= 0:
            heads[m] = h
        left, chosen = drawn[used], int64(-1)
        used += 1
        for k in range(count):
            share = np.exp(value_of(ways, k, chart) - chart[item])
            if share > 0.0:
                chosen = int64(k)
                left -= share
                if left <= 0.0:
                    break
        for part in (ways.first[chosen], ways.second[chosen]):
            if part >= 0:
                stack[top] = part
                top += 1
