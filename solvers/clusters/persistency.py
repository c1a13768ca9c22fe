"""What is decided of a best clustering before any column is generated: clusters, pairs together, pairs apart.

    max Σ_{clusters S} Σ_{i<j in S} w_ij,        w symmetric, of any sign.

Three reductions take turns, cheap ones first, each of which leaves an instance whose optimum is the same:

1. Clusters never need to span components of the graph of positive scores, and dual values often prove a component's
   clustering best (:mod:`colgen.solvers.clusters.dual_proof`): it is *settled*.
2. Where they do not, dual values of the triangle inequalities (:mod:`colgen.solvers.clusters.triangle_dual`) prove a
bound
   near the optimum, and where those leave nearly everything open, dual values of stars
   (:mod:`colgen.solvers.clusters.star_dual`), which are also asked what parting pairs costs, one after the other
   (:mod:`colgen.solvers.clusters.probing`).  That settles the component, or decides which pairs are together and which
   are apart: components fall to pieces then, and searches are short.
3. Items that provably share a cluster are contracted (:mod:`colgen.solvers.clusters.contraction`).

A seed decides the outcome as long as there is time: searches have so many nodes, the ascent looks at so many triangles,
and a round that decides little is the last one.  Together they take seconds at worst.  Whoever has less time says so by
``expired``, and less is decided then.  What is decided comes with its steps (:mod:`colgen.solvers.clusters.steps`),
which prove it to anybody who takes them again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_integer
from colgen.solvers.clusters.contraction import components, contract
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.probing import joins
from colgen.solvers.clusters.star_dual import star_bound
from colgen.solvers.clusters.steps import (
    Bounded,
    Contracted,
    Probed,
    Round,
    Settled,
    Stars,
    State,
    Step,
    Triangles,
    beginning,
    renumbered,
    take,
)
from colgen.solvers.clusters.triangle_dual import triangle_bound
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 200
"""Dual values are tried on components of so many items at most, by searches of so many nodes."""

_NODES = 5_000

_LARGEST_BOUNDED = 350
"""Triangles of so many items at most are looked at: 7 million of them, which takes the ascent a few seconds at most."""

_SMALLEST_BOUNDED = 30
"""Column generation has solved a component of fewer items before triangles are looked at."""

_OPEN = 0.8
"""Stars are looked at where triangles leave more than this share of the items: they cost more, and bound better."""

_NEAR = 0.02
"""Pairs are asked about where the gap is at most this share of the score."""

_WORTHWHILE = 0.8
"""A round is followed by another one if no more than this share of the items is left."""


class Persistent(NamedTuple):
    """What is decided, and what is left.

    Attributes
    ----------
    settled
        The items of each cluster that is decided as a whole.
    start
        The number of each group's cluster in a good clustering.
    state
        The groups that are left, each in one cluster; the scores of pairs of them, those inside them; and bounds.
    steps
        How it was decided.
    """

    settled: list[Ints]
    start: Ints
    state: State
    steps: tuple[Step, ...] = ()

    @property
    def groups(self) -> list[Ints]:
        """The items of each group that is left: they are in one cluster."""
        return self.state.groups

    @property
    def scores(self) -> Floats:
        """Of pairs of groups, zero diagonal; where the two are apart the score is bad enough, and no longer a sum."""
        return self.state.scores

    @property
    def bound(self) -> float:
        """No clustering of the items scores more (nor does any point of the relaxation of set partitioning)."""
        return self.state.bound


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
    left = undecided(scores, np.arange(len(scores)))
    left = _without_settled(left, kicks=1, seed=seed, expired=expired)
    before = np.inf
    while 0 < len(left.groups) <= _WORTHWHILE * before and not expired():
        before = len(left.groups)
        left = _bounded(left, seed, expired)
        left = _contracted(left, smallest, expired)
        left = _without_settled(left, kicks=kicks, seed=seed, expired=expired)
    return left


def contracted(
    scores: Floats, *, smallest: int = 2, kicks: int = 10, seed: int = 0, expired: Expired = never
) -> Persistent:
    """Contraction alone, with nothing settled; parameters as for :func:`persistent`."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    smallest, kicks = as_integer(smallest, "smallest"), as_integer(kicks, "kicks", low=0)
    start, _, _ = settle(scores, np.arange(len(scores)), kicks=1, seed=seed, largest=0, expired=expired)
    left = _contracted(undecided(scores, start), smallest, expired)
    start, _, _ = settle(left.scores, left.start, kicks=kicks, seed=seed, largest=0, expired=expired)
    return left._replace(start=start)


def undecided(scores: Floats, start: Ints) -> Persistent:
    """Nothing is decided; ``start`` numbers the clusters of a good clustering."""
    return Persistent([], start, beginning(scores))


def _without_settled(left: Persistent, *, kicks: int, seed: int, expired: Expired) -> Persistent:
    start, done, duals = settle(
        left.scores, left.start, kicks=kicks, seed=seed, largest=_LARGEST, nodes=_NODES, expired=expired
    )
    left = left._replace(start=start)
    return _taken(left, Settled(np.flatnonzero(done), duals[done], _NODES), start) if done.any() else left


def _bounded(left: Persistent, seed: int, expired: Expired) -> Persistent:
    """Decide by triangles and stars, component by component."""
    component = components(left.scores)
    parts: list[Triangles | Stars] = []
    probing: list[Stars] = []
    start = left.start.copy()
    for c in np.flatnonzero(np.bincount(component) >= _SMALLEST_BOUNDED):
        here = np.flatnonzero(component == c)
        if len(here) > _LARGEST_BOUNDED or expired():
            continue
        inner = np.ascontiguousarray(left.scores[np.ix_(here, here)])
        found = triangle_bound(inner, renumbered(start[here]), seed=seed, expired=expired)
        part: Triangles | Stars = Triangles(here, found.rows, found.duals, found.labels)
        if not found.closed and int(found.together.max()) + 1 > _OPEN * len(here) and not expired():
            stronger = star_bound(inner, renumbered(found.labels), seed=seed, expired=expired)
            if stronger.bound < found.bound:
                found = stronger
                part = Stars(here, found.rows, found.duals, found.labels)
                # Where the gap is wide no pair is worth as much, and where pairs are together the next round is soon.
                near = found.bound - found.score <= _NEAR * abs(found.score)
                if near and not found.closed and int(found.together.max()) + 1 == len(here):
                    probing.append(part)
        start[here] = len(start) + here[np.unique(found.labels, return_index=True)[1]][found.labels]
        parts.append(part)
    if not parts:
        return left
    firsts = [int(group[0]) for group in left.groups]
    left = _taken(left, Bounded(tuple(parts)), renumbered(start))
    for part in probing:
        left = _probed(left, [firsts[k] for k in part.items.tolist()], part, expired)
    return left


def _probed(left: Persistent, firsts: list[int], part: Stars, expired: Expired) -> Persistent:
    """Ask what parting pairs costs, in a component whose items are named by the first of what they hold."""
    place = {int(group[0]): k for k, group in enumerate(left.groups)}
    here = np.array([place[first] for first in firsts])
    inner = np.ascontiguousarray(left.scores[np.ix_(here, here)])
    labels = renumbered(left.start[here])
    found = joins(inner, labels, part.stars, part.duals, expired=expired)
    return _taken(left, Probed(here, labels, tuple(found)), left.start) if found else left


def _contracted(left: Persistent, smallest: int, expired: Expired) -> Persistent:
    rounds: list[tuple[Ints, Ints]] = []
    contract(left.scores, left.start, smallest=smallest, expired=expired, rounds=rounds)
    return _taken(left, Contracted(tuple(Round(*one) for one in rounds)), left.start) if rounds else left


def _taken(left: Persistent, step: Step, start: Ints) -> Persistent:
    """What a step leaves of a clustering of its items: whole clusters are settled, and the others are joined."""
    state = take(left.state, step, priced=False)
    cluster = np.full(sum(len(part) for part in [*left.settled, *left.groups]), -1)
    for group, label in zip(left.groups, start.tolist(), strict=True):
        cluster[group] = label
    of_groups = np.array([cluster[group[0]] for group in state.groups], dtype=np.int64)
    done = cluster >= 0
    for group in state.groups:
        done[group] = False  # also items that a pair has joined to another cluster than that of the good clustering
    gone = np.flatnonzero(done)
    gone = gone[np.argsort(cluster[gone], kind="stable")]
    ends = np.flatnonzero(np.diff(cluster[gone])) + 1
    settled = [*left.settled, *np.split(gone, ends)] if len(gone) else left.settled
    return Persistent(settled, renumbered(of_groups), state, (*left.steps, step))
