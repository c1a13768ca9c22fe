"""The items that clusters consist of: mentions, or groups of mentions that some best clustering keeps together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from colgen import Column, Decision
from colgen.core.decision import Apart, Together
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, Floats, score_cluster
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.persistency import contract_only, find_persistent, leave_undecided
from colgen.solvers.clusters.steps import State, Step, UnprovedError, apply_steps
from colgen.solvers.stopping import Expired, never

COVER = "cover"
"""Block of the partitioning rows, which are indexed by item."""

SMALL = 40
"""Components with fewer items are solved by column generation faster than they are contracted."""

_ZERO = 2.0**-40
"""Sums smaller than this, relative to their terms, are zero."""

_INACCURATE = 2.0**-20
"""Costs smaller than this, relative to the scale, are summed again instead of updated."""

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Verification(NamedTuple):
    """Result of verifying the reduction steps."""

    worth: float  # upper bound on the score of the clusters of mentions outside the items; inf if time ran out
    bound: float  # upper bound on the score of all clusterings


@dataclass(frozen=True, eq=False)
class Items:
    """The rows of the master: groups of mentions that remain after the reductions.

    Attributes
    ----------
    groups
        Mentions of each item.
    scores
        Scores of pairs of items, with zero diagonal: sums over pairs of mentions. If the reductions decided that two
        items are in different clusters, their score is a large negative number instead.
    within
        Sum of the scores of the pairs inside each item, except those inside units.
    start
        Cluster number of each item in a good clustering.
    settled, constant
        Clusters of the other mentions, which dual values prove to be in some best clustering, and their score.
    units, offset
        Sets of mentions that rewards keep together, and the sum of the scores inside them. Every clustering gains this
        sum, and no other number here includes it. All reductions apply to units.
    apart
        Mask of pairs of items that penalties keep out of one cluster, shape (items, items), or None.
    complete
        Whether all reductions were tried in time.
    """

    groups: tuple[Cluster, ...]
    scores: Floats
    within: Floats
    start: Ints
    settled: tuple[Cluster, ...] = ()
    constant: float = 0.0
    offset: float = 0.0
    units: tuple[Cluster, ...] = ()
    apart: Mask | None = None
    scale: float = 1.0  # of the instance
    complete: bool = True
    original: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)  # scores of pairs of units
    steps: tuple[Step, ...] = ()  # reduction steps, see `verify`
    _verification: list[Verification] = field(default_factory=list, init=False, repr=False)

    @classmethod
    def of(
        cls,
        instance: CoreferenceInstance,
        *,
        joined: bool = True,
        contracted: bool = True,
        settled: bool = True,
        smallest: int = SMALL,
        kicks: int = 10,
        seed: int = 0,
        expired: Expired = never,
    ) -> Items:
        """Return the items of an instance.

        Parameters
        ----------
        joined
            Keep the units of the instance together. Must be false if the problem may differ from plain clustering.
        contracted
            Contract mentions that provably belong together (:mod:`colgen.solvers.clusters.contraction`).
        settled
            If ``contracted``, also settle clusters and separate pairs of items by dual values
            (:mod:`colgen.solvers.clusters.persistency`).
        smallest
            Components of the graph of positive scores with fewer mentions are not reduced.
        kicks
            Effort of the local search for items that are not settled, in kicks per item.
        expired
            Called several times per second; reductions stop when it returns true.
        """
        units = instance.units if joined else tuple((i,) for i in range(instance.num_mentions))
        offset = instance.objective(units)
        instance = instance.contracted if joined else instance
        scores = instance.clipped
        n = len(scores)
        if not contracted:
            start, _, _ = settle(scores, np.arange(n), kicks=kicks, seed=seed, largest=0, expired=expired)
            left = leave_undecided(scores, start)
        elif settled:
            left = find_persistent(scores, smallest=smallest, seed=seed, expired=expired)
        else:
            left = contract_only(scores, smallest=smallest, kicks=kicks, seed=seed, expired=expired)
        order = sorted(range(len(left.groups)), key=lambda k: int(left.groups[k][0]))
        groups = [left.groups[k] for k in order]
        return cls(
            tuple(_mentions(units, group) for group in groups),
            np.ascontiguousarray(left.scores[np.ix_(order, order)]),
            np.array([score_cluster(scores, group) for group in groups]),
            left.start[order],
            tuple(sorted(_mentions(units, cluster) for cluster in left.settled)),
            sum(score_cluster(scores, cluster) for cluster in left.settled),
            offset,
            units,
            _between(instance.penalties, groups),
            instance.scale,
            not expired(),
            scores,
            left.steps,
        )

    def verify(self, expired: Expired = never) -> Verification:
        """Verify all reductions from the scores and the recorded steps; the result is cached.

        If time runs out, only a bound on all clusterings is proved.

        Raises
        ------
        UnprovedError
            If the steps do not prove these items.
        """
        if self._verification:
            return self._verification[0]
        state, whole = apply_steps(self.original, self.steps, expired=expired)
        if not whole:
            return Verification(math.inf, state.bound)
        if not self._matches(state):
            raise UnprovedError("the reduction steps do not prove these items")
        self._verification.append(Verification(state.worth, state.bound))
        return self._verification[0]

    def _matches(self, state: State) -> bool:
        """Return whether the remaining groups are these items, with the same scores up to rounding."""
        order = sorted(range(len(state.groups)), key=lambda k: int(state.groups[k][0]))
        if tuple(_mentions(self.units, state.groups[k]) for k in order) != self.groups:
            return False
        near = _ZERO * max(self.scale, float(np.abs(self.scores).max(initial=0.0)))
        return bool((np.abs(state.scores[np.ix_(order, order)] - self.scores) <= near).all())

    def __len__(self) -> int:
        return len(self.groups)

    def column(self, items: Sequence[int]) -> Column:
        """Return the column of a cluster of items: its score, and a one in the row of each."""
        return self.make_column(sorted(items))

    def make_column(self, chosen: Sequence[int], cost: float | None = None) -> Column:
        """Return the column of items, which must ascend.  A caller that knows the cost up to rounding may pass it."""
        if cost is None or abs(cost) < _INACCURATE * self.scale:
            cost = self._cost(np.asarray(chosen, dtype=np.intp))
        cluster = tuple(sorted(i for k in chosen for i in self.groups[k]))
        return Column(cost, {(COVER, k): 1.0 for k in chosen}, cluster, ("cluster", cluster))

    def _cost(self, chosen: NDArray[np.intp]) -> float:
        pairs, inside = self.scores[chosen[:, None], chosen], self.within[chosen]
        cost = 0.5 * float(pairs.sum()) + float(inside.sum())
        if abs(cost) < _ZERO * self.scale and abs(cost) <= _ZERO * float(np.abs(pairs).sum() + np.abs(inside).sum()):
            # Rounding errors of scores that cancel out would determine the scale of columns without cost.
            return 0.0
        return cost

    def neighbour_columns(self) -> Iterator[Column]:
        """Yield the columns of single items, and of clusters of the good clustering with one item removed or added."""
        for k in range(len(self)):
            yield self.make_column([k])
        for cluster in self.clustering():
            members = cluster.tolist()
            attraction = self.scores[:, cluster].sum(axis=1)
            cost = 0.5 * float(attraction[cluster].sum()) + float(self.within[cluster].sum())
            if len(members) > 2:
                for place, k in enumerate(members):
                    left = cost - float(attraction[k]) - float(self.within[k])
                    yield self.make_column(members[:place] + members[place + 1 :], left)
            attracted = self.scores[:, cluster].max(axis=1)
            attracted[cluster] = 0.0
            if self.apart is not None:
                attracted[self.apart[:, cluster].any(axis=1)] = 0.0
            for k in np.flatnonzero(attracted > 0.0).tolist():
                more = cost + float(attraction[k]) + float(self.within[k])
                yield self.make_column(sorted([*members, k]), more)

    def clustering(self) -> list[Ints]:
        """Return the items of each cluster of the good clustering."""
        return [np.flatnonzero(self.start == c) for c in range(int(self.start.max(initial=-1)) + 1)]


def _mentions(units: Sequence[Cluster], group: Ints) -> Cluster:
    return tuple(sorted(i for k in group.tolist() for i in units[k]))


def _between(pairs: Mask, groups: Sequence[Ints]) -> Mask | None:
    """Return the mask of the pairs of groups with one of these pairs between them; None if there are none."""
    if not groups or not pairs.any():
        return None
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    order = np.concatenate(groups)
    between = np.logical_or.reduceat(
        np.logical_or.reduceat(pairs[np.ix_(order, order)], starts, axis=0), starts, axis=1
    )
    return between if between.any() else None


class Contraction:
    """Items at a node: items that decisions join are merged, and pairs that decisions separate are forbidden.

    Parameters
    ----------
    decisions
        Ryan and Foster decisions of the node, on rows of the block ``cover``.
    absent
        Items that fixed clusters cover already.

    Attributes
    ----------
    groups
        The rows that form each item of the node.
    scores, within
        Scores of pairs of these items, and of the pairs of mentions inside each.
    apart
        Pairs of them that must be separate, symmetric, or None.
    """

    def __init__(self, items: Items, decisions: Sequence[Decision] = (), absent: Iterable[int] = ()) -> None:
        self.items = items
        n = len(items)
        group = np.arange(n)
        for decision in decisions:
            if isinstance(decision, Together):
                first, second = group[_item(decision.first)], group[_item(decision.second)]
                group[group == second] = first
        names, place = np.unique(group, return_inverse=True)
        parted = [d for d in decisions if isinstance(d, Apart)]
        apart = [(int(place[_item(d.first)]), int(place[_item(d.second)])) for d in parted]
        forbidden = None
        if items.apart is not None:
            forbidden = _between(items.apart, [np.flatnonzero(place == k) for k in range(len(names))])
        if apart:
            forbidden = np.zeros((len(names), len(names)), dtype=np.bool_) if forbidden is None else forbidden
            for a, b in apart:
                forbidden[a, b] = forbidden[b, a] = True
        # Drop groups with an absent item, and groups that are both joined and separated.
        impossible = {int(place[i]) for i in absent}
        if forbidden is not None:
            impossible.update(np.flatnonzero(forbidden.diagonal()).tolist())
        present = np.array([k for k in range(len(names)) if k not in impossible], dtype=np.intp)
        self.groups: list[NDArray[np.intp]] = [np.flatnonzero(place == k) for k in present]
        self.apart = None if forbidden is None else forbidden[np.ix_(present, present)]
        if self.apart is not None and not self.apart.any():
            self.apart = None
        joined, within = items.scores, items.within
        if len(names) < n:
            membership = (place[:, None] == np.arange(len(names))).astype(float)
            joined = membership.T @ joined @ membership
            within = membership.T @ within + 0.5 * np.diag(joined)
            np.fill_diagonal(joined, 0.0)
        if len(present) < len(names):
            joined, within = joined[np.ix_(present, present)], within[present]
        self.scores: Floats = np.ascontiguousarray(joined)
        self.within: Floats = within
        self._rows = np.concatenate(self.groups) if self.groups else np.empty(0, dtype=np.intp)
        self._starts = np.cumsum([0, *map(len, self.groups)])[:-1]

    def price_items(self, duals: Floats, cost_weight: float) -> tuple[Floats, Floats]:
        """Return scores of pairs and the profit of each item: the scores inside it minus its dual values.

        Forbidden pairs get a score so low that the best cluster contains at most one of the two.
        """
        if not self.groups:
            return self.scores, np.empty(0)
        profits = cost_weight * self.within - np.add.reduceat(duals[self._rows], self._starts)
        if cost_weight == 1.0 and self.apart is None:
            return self.scores, profits
        scores = cost_weight * self.scores
        if self.apart is not None:
            # Removing either item of a forbidden pair then improves any cluster.
            worth = np.maximum(scores, 0.0).sum(axis=1) + np.maximum(profits, 0.0)
            margin = max(float(np.abs(profits).max()), cost_weight * self.items.scale) or 1.0
            scores[self.apart] = -(np.maximum(worth[:, None], worth)[self.apart] + margin)
        return scores, profits

    def are_allowed(self, members: Mask) -> Mask:
        """Return whether each cluster, given as a row of a mask, has no forbidden pair."""
        if self.apart is None:
            return np.ones(len(members), dtype=np.bool_)
        chosen = members.astype(np.float64)
        return np.asarray(((chosen @ self.apart) * chosen).sum(axis=1) == 0.0)

    def columns(self, members: Mask) -> list[Column]:
        """Return the columns of clusters given as rows of a mask."""
        return [
            self.items.column([k for here in np.flatnonzero(row) for k in self.groups[here].tolist()])
            for row in members
        ]


def _item(key: tuple[str, object]) -> int:
    assert isinstance(key[1], int)
    return key[1]
