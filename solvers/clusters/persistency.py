"""What is decided of a best clustering before any column is generated: clusters, pairs together, pairs apart.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign.

Three reductions take turns, cheap ones first, each of which leaves an instance whose optimum is the same:

1. Clusters never need to span components of the graph of positive scores, and dual values often prove a component's
   clustering best (:mod:`solvers.clusters.dual_proof`): it is *settled*.
2. Where they do not, dual values of the triangle inequalities (:mod:`solvers.clusters.triangle_dual`) prove a bound
near the
   optimum.  That settles the component, or decides which pairs are together and which are apart: components fall to
   pieces then, and searches are short.
3. Items that provably share a cluster are contracted (:mod:`solvers.clusters.contraction`).

A seed decides the outcome as long as there is time: searches have so many nodes, the ascent looks at so many triangles,
and a round that decides little is the last one.  Together they take seconds at worst.  Whoever has less time says so by
``expired``, and less is decided then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.arrays import as_floats, as_integer
from solvers.clusters.contraction import components, contract, merged
from solvers.clusters.dual_proof import settle
from solvers.clusters.triangle_dual import kept_apart, triangle_bound
from solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

_LARGEST = 200
"""Dual values are tried on components of so many items at most, by searches of so many nodes."""

_NODES = 5_000

_LARGEST_BOUNDED = 350
"""Triangles of so many items at most are looked at: 7 million of them, which takes the ascent a few seconds at most."""

_SMALLEST_BOUNDED = 30
"""Column generation has solved a component of fewer items before triangles are looked at."""

_WORTHWHILE = 0.8
"""A round is followed by another one if no more than this share of the items is left."""


class Persistent(NamedTuple):
    """What is decided, and what is left.

    Attributes
    ----------
    settled
        The items of each cluster that is decided as a whole.
    groups
        The items of each group that is left: they are in one cluster.
    scores
        Of pairs of groups, zero diagonal; where the two are apart the score is bad enough, and no longer a sum.
    start
        The number of each group's cluster in a good clustering.
    bound
        No clustering of the items scores more (nor does any point of the relaxation of set partitioning of the groups).
    """

    settled: list[Ints]
    groups: list[Ints]
    scores: Floats
    start: Ints
    bound: float = np.inf


def persistent(
    scores: Floats, *, smallest: int = 2, kicks: int = 2, seed: int = 0, expired: Expired = never
) -> Persistent:
    """Apply the reductions until they decide little more.

    Parameters
    ----------
    scores
        w, symmetric with zero diagonal, shape (n, n).
    smallest
        Components with fewer items are not contracted.
    kicks
        Effort of the local search after contraction, so many kicks an item.
    seed
        Of the local search.
    expired
        Asked several times a second; once the answer is yes, what is left stays as it is.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    smallest, kicks = as_integer(smallest, "smallest"), as_integer(kicks, "kicks", low=0)
    n = len(scores)
    left = Persistent([], [np.array([i]) for i in range(n)], scores, np.arange(n), positive_sum(scores))
    left = _without_settled(left, kicks=1, seed=seed, expired=expired)
    before = np.inf
    while 0 < len(left.groups) <= _WORTHWHILE * before and not expired():
        before = len(left.groups)
        left = _bounded(left, scores, seed, expired)
        left = _joined(left, contract(left.scores, left.start, smallest=smallest, expired=expired))
        left = _without_settled(left, kicks=kicks, seed=seed, expired=expired)
    if not left.groups:
        return left._replace(bound=sum(_score(scores, cluster) for cluster in left.settled))
    return left


def contracted(
    scores: Floats, *, smallest: int = 2, kicks: int = 10, seed: int = 0, expired: Expired = never
) -> Persistent:
    """Contraction alone, with nothing settled; parameters as for :func:`persistent`."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    smallest, kicks = as_integer(smallest, "smallest"), as_integer(kicks, "kicks", low=0)
    n = len(scores)
    start, _ = settle(scores, np.arange(n), kicks=1, seed=seed, largest=0, expired=expired)
    left = Persistent([], [np.array([i]) for i in range(n)], scores, start, positive_sum(scores))
    left = _joined(left, contract(scores, start, smallest=smallest, expired=expired))
    start, _ = settle(left.scores, left.start, kicks=kicks, seed=seed, largest=0, expired=expired)
    return left._replace(start=start)


def positive_sum(scores: Floats) -> float:
    """What all pairs with positive scores are worth: no clustering scores more."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    return 0.5 * float(np.maximum(scores, 0.0).sum())


def _without_settled(left: Persistent, *, kicks: int, seed: int, expired: Expired) -> Persistent:
    start, done = settle(
        left.scores, left.start, kicks=kicks, seed=seed, largest=_LARGEST, nodes=_NODES, expired=expired
    )
    clusters = [_union(left.groups, np.flatnonzero(start == c)) for c in np.unique(start[done])]
    return _part(left._replace(settled=[*left.settled, *clusters], start=start), np.flatnonzero(~done))


def _bounded(left: Persistent, original: Floats, seed: int, expired: Expired) -> Persistent:
    """Decide by triangles, component by component."""
    component = components(left.scores)
    together = np.arange(len(left.groups))
    scores, start, done = left.scores.copy(), left.start.copy(), np.zeros(len(left.groups), dtype=np.bool_)
    settled = list(left.settled)
    bound = sum(_score(original, part) for part in [*settled, *left.groups]) + positive_sum(scores)
    for c in np.flatnonzero(np.bincount(component) >= _SMALLEST_BOUNDED):
        here = np.flatnonzero(component == c)
        if len(here) > _LARGEST_BOUNDED or expired():
            continue
        within = np.ix_(here, here)
        found = triangle_bound(left.scores[within], _renumbered(start[here]), seed=seed, expired=expired)
        bound += found.bound - positive_sum(left.scores[within])
        start[here] = len(start) + here[np.unique(found.labels, return_index=True)[1]][found.labels]
        together[here] = here[np.unique(found.together, return_index=True)[1]][found.together]
        scores[within] = kept_apart(left.scores[within], found.apart)
        if found.closed:
            done[here] = True
            settled += [_union(left.groups, here[found.labels == k]) for k in range(found.labels.max() + 1)]
    rest = np.flatnonzero(~done)
    left = _part(Persistent(settled, left.groups, scores, _renumbered(start), min(bound, left.bound)), rest)
    return _joined(left, _renumbered(together[rest]))


def _part(left: Persistent, chosen: Ints) -> Persistent:
    """What is left of some groups alone."""
    if len(chosen) == len(left.groups):
        return left._replace(start=_renumbered(left.start))
    return left._replace(
        groups=[left.groups[k] for k in chosen],
        scores=np.ascontiguousarray(left.scores[np.ix_(chosen, chosen)]),
        start=_renumbered(left.start[chosen]),
    )


def _joined(left: Persistent, joined: Ints) -> Persistent:
    """Groups put together; ``joined`` numbers them by first groups."""
    if not len(joined) or joined.max() == len(joined) - 1:
        return left
    _, first = np.unique(joined, return_index=True)
    groups = [_union(left.groups, np.flatnonzero(joined == k)) for k in range(len(first))]
    return left._replace(groups=groups, scores=merged(left.scores, joined), start=_renumbered(left.start[first]))


def _score(scores: Floats, items: Ints) -> float:
    """Of one cluster."""
    return 0.5 * float(scores[np.ix_(items, items)].sum())


def _union(groups: list[Ints], chosen: Ints) -> Ints:
    return np.sort(np.concatenate([groups[k] for k in chosen]))


def _renumbered(labels: Ints) -> Ints:
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)
