"""Reductions before column generation: settled clusters, pairs together and pairs apart of an optimal clustering.

The problem is that of :mod:`colgen.solvers.clusters.clustering`.  Three reductions alternate, cheap ones first.  Each
leaves an instance with the same optimum:

1. Clusters never need to span components of the graph of positive scores.  Dual values often prove a component's
   clustering optimal (:mod:`colgen.solvers.clusters.dual_proof`): the component is *settled*.
2. For other components, dual values of triangle inequalities (:mod:`colgen.solvers.clusters.triangle_dual`) give a
   bound near the optimum.  The bound settles the component, or decides which pairs are together and which are apart.
   Components then split, and searches become short.  If the bound decides almost nothing, dual values of stars follow
   (:mod:`colgen.solvers.clusters.star_dual`), and pairs are probed (:mod:`colgen.solvers.clusters.probing`).
3. Items that provably share a cluster are contracted (:mod:`colgen.solvers.clusters.contraction`).

Unless time runs out, the result depends on the seed only.  Searches have node limits, and the ascent has a limit on
triangles.  A round that decides little is the last.  All reductions take a few seconds at most.  ``expired`` sets a
shorter time limit; less is decided then.  The decisions come with steps (:mod:`colgen.solvers.clusters.steps`), which
can be verified from the scores alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen.solvers.arrays import as_floats, as_integer
from colgen.solvers.clusters.contraction import components, contract
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.probing import find_joins
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
    apply_step,
    initial_state,
    renumber,
)
from colgen.solvers.clusters.triangle_dual import triangle_bound
from colgen.solvers.stopping import Expired, never

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LARGEST = 200
"""Dual values are tried on components of at most this many items, with searches of at most ``_NODES`` nodes."""

_NODES = 5_000

_LARGEST_BOUNDED = 350
"""Triangle bounds are computed for at most this many items: 7 million triangles, a few seconds."""

_SMALLEST_BOUNDED = 30
"""Column generation solves components of fewer items faster than the triangle bound is computed."""

_OPEN = 0.8
"""Stars are tried where triangles leave more than this fraction of the items: they cost more and bound better."""

_NEAR = 0.02
"""Pairs are probed where the gap is at most this fraction of the score."""

_WORTHWHILE = 0.8
"""Another round follows if at most this fraction of the items is left."""


class Persistent(NamedTuple):
    """Decisions made so far and the remaining instance."""

    settled: list[Ints]  # items of each decided cluster
    start: Ints  # cluster number of each remaining group in a good clustering
    state: State  # remaining groups, each in one cluster; scores of pairs of groups and inside groups; bounds
    steps: tuple[Step, ...] = ()  # steps that prove the decisions

    @property
    def groups(self) -> list[Ints]:
        """Items of each remaining group; a group lies in one cluster."""
        return self.state.groups

    @property
    def scores(self) -> Floats:
        """Scores of pairs of groups, zero diagonal.  A pair decided apart has a large negative score, not a sum."""
        return self.state.scores

    @property
    def bound(self) -> float:
        """Upper bound on the score of any clustering, and of any point of the set partitioning relaxation."""
        return self.state.bound


def find_persistent(
    scores: Floats, *, smallest: int = 2, kicks: int = 2, seed: int = 0, expired: Expired = never
) -> Persistent:
    """Apply the reductions until a round decides little.

    ``scores`` is w, shape (n, n).  Components with fewer than ``smallest`` items are not contracted.  ``kicks`` are
    those per item of the local search after contraction, and ``seed`` is its seed.  ``expired`` is checked several
    times per second; once True, the rest stays undecided.
    """
    scores = as_floats(scores, "scores", shape=("n", "n"))
    smallest, kicks = as_integer(smallest, "smallest"), as_integer(kicks, "kicks", low=0)
    left = leave_undecided(scores, np.arange(len(scores)))
    left = _remove_settled(left, kicks=1, seed=seed, expired=expired)
    before = np.inf
    while 0 < len(left.groups) <= _WORTHWHILE * before and not expired():
        before = len(left.groups)
        left = _bound(left, seed, expired)
        left = _contract(left, smallest, expired)
        left = _remove_settled(left, kicks=kicks, seed=seed, expired=expired)
    return left


def contract_only(
    scores: Floats, *, smallest: int = 2, kicks: int = 10, seed: int = 0, expired: Expired = never
) -> Persistent:
    """Contract without settling components; parameters as for :func:`find_persistent`."""
    scores = as_floats(scores, "scores", shape=("n", "n"))
    smallest, kicks = as_integer(smallest, "smallest"), as_integer(kicks, "kicks", low=0)
    start, _, _ = settle(scores, np.arange(len(scores)), kicks=1, seed=seed, largest=0, expired=expired)
    left = _contract(leave_undecided(scores, start), smallest, expired)
    start, _, _ = settle(left.scores, left.start, kicks=kicks, seed=seed, largest=0, expired=expired)
    return left._replace(start=start)


def leave_undecided(scores: Floats, start: Ints) -> Persistent:
    """Return the state in which nothing is decided.  ``start`` holds the cluster numbers of a good clustering."""
    return Persistent([], start, initial_state(scores))


def _remove_settled(left: Persistent, *, kicks: int, seed: int, expired: Expired) -> Persistent:
    start, done, duals = settle(
        left.scores, left.start, kicks=kicks, seed=seed, largest=_LARGEST, nodes=_NODES, expired=expired
    )
    left = left._replace(start=start)
    return _apply(left, Settled(np.flatnonzero(done), duals[done], _NODES), start) if done.any() else left


def _bound(left: Persistent, seed: int, expired: Expired) -> Persistent:
    """Decide pairs by triangles and stars, component by component."""
    component = components(left.scores)
    parts: list[Triangles | Stars] = []
    probing: list[Stars] = []
    start = left.start.copy()
    for c in np.flatnonzero(np.bincount(component) >= _SMALLEST_BOUNDED):
        here = np.flatnonzero(component == c)
        if len(here) > _LARGEST_BOUNDED or expired():
            continue
        inner = np.ascontiguousarray(left.scores[np.ix_(here, here)])
        found = triangle_bound(inner, renumber(start[here]), seed=seed, expired=expired)
        part: Triangles | Stars = Triangles(here, found.rows, found.duals, found.labels)
        if not found.closed and int(found.together.max()) + 1 > _OPEN * len(here) and not expired():
            stronger = star_bound(inner, renumber(found.labels), seed=seed, expired=expired)
            if stronger.bound < found.bound:
                found = stronger
                part = Stars(here, found.rows, found.duals, found.labels)
                # Probing needs a small gap; where some pairs are together the next round follows soon anyway.
                near = found.bound - found.score <= _NEAR * abs(found.score)
                if near and not found.closed and int(found.together.max()) + 1 == len(here):
                    probing.append(part)
        start[here] = len(start) + here[np.unique(found.labels, return_index=True)[1]][found.labels]
        parts.append(part)
    if not parts:
        return left
    firsts = [int(group[0]) for group in left.groups]
    left = _apply(left, Bounded(tuple(parts)), renumber(start))
    for part in probing:
        left = _probe(left, [firsts[k] for k in part.items.tolist()], part, expired)
    return left


def _probe(left: Persistent, firsts: list[int], part: Stars, expired: Expired) -> Persistent:
    """Probe the pairs of a component.  ``firsts`` holds the first original item of each of its items."""
    place = {int(group[0]): k for k, group in enumerate(left.groups)}
    here = np.array([place[first] for first in firsts])
    inner = np.ascontiguousarray(left.scores[np.ix_(here, here)])
    labels = renumber(left.start[here])
    found = find_joins(inner, labels, part.stars, part.duals, expired=expired)
    return _apply(left, Probed(here, labels, tuple(found)), left.start) if found else left


def _contract(left: Persistent, smallest: int, expired: Expired) -> Persistent:
    rounds: list[tuple[Ints, Ints]] = []
    contract(left.scores, left.start, smallest=smallest, expired=expired, rounds=rounds)
    return _apply(left, Contracted(tuple(Round(*one) for one in rounds)), left.start) if rounds else left


def _apply(left: Persistent, step: Step, start: Ints) -> Persistent:
    """Apply a step.  Decided clusters of the clustering ``start`` are settled, and the other groups are joined."""
    state = apply_step(left.state, step, verify=False)
    cluster = np.full(sum(len(part) for part in [*left.settled, *left.groups]), -1)
    for group, label in zip(left.groups, start.tolist(), strict=True):
        cluster[group] = label
    of_groups = np.array([cluster[group[0]] for group in state.groups], dtype=np.int64)
    done = cluster >= 0
    for group in state.groups:
        done[group] = False  # also items that a pair joined to a cluster other than that of the good clustering
    gone = np.flatnonzero(done)
    gone = gone[np.argsort(cluster[gone], kind="stable")]
    ends = np.flatnonzero(np.diff(cluster[gone])) + 1
    settled = [*left.settled, *np.split(gone, ends)] if len(gone) else left.settled
    return Persistent(settled, renumber(of_groups), state, (*left.steps, step))
