"""What the clusters are made of: mentions, or groups of mentions that some best clustering keeps together."""

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
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.solvers.clusters.dual_proof import settle
from colgen.solvers.clusters.persistency import contract_only, find_persistent, leave_undecided
from colgen.solvers.clusters.steps import State, Step, UnprovedError, apply_steps
from colgen.solvers.stopping import Expired, never

COVER = "cover"
"""Block of the partitioning rows; their index is the item."""

SMALL = 40
"""Column generation has solved a component of fewer items before it is contracted."""

_NOTHING = 2.0**-40
"""A sum that is smaller than this, relative to its terms, is zero."""

_ROUNDED = 2.0**-20
"""A cost that is smaller than this, relative to the scale, is summed up anew rather than known from another one."""

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Proved(NamedTuple):
    """What taking all steps again has proved.

    Attributes
    ----------
    worth
        Whatever clusters the mentions have that are in no item, they score no more together; infinite if time ran out.
    bound
        No clustering of all mentions scores more.
    """

    worth: float
    bound: float


@dataclass(frozen=True, eq=False)
class Items:
    """The rows of the master.

    Attributes
    ----------
    groups
        The mentions of each item.
    scores
        Of pairs of items, shape (items, items), zero diagonal.  Of two that some best clustering parts it may differ
        from the sum of their mentions' scores: then no good cluster holds both.
    within
        Of each item: the scores of the pairs inside it, those inside of units aside.
    start
        The number of each item's cluster in a good clustering.
    settled
        Clusters of mentions that are in no item: dual values prove that some best clustering has them.
    constant
        Their score.
    offset
        What the pairs score that are inside of the instance's units: in every clustering, and in no other number here.
    units
        Mentions that rewards keep together; what is decided below is decided of them.
    apart
        Pairs of items that no cluster may hold, because of a penalty between their mentions; shape (items, items), None
        if there is none.
    scale
        Of the instance.
    original
        Scores of pairs of units.
    steps
        How all of it was decided: :meth:`proved` takes them again.
    complete
        Whether there was time for everything; if not, fewer mentions are contracted or settled than could be.
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
    scale: float = 1.0
    complete: bool = True
    original: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    steps: tuple[Step, ...] = ()
    _proved: list[Proved] = field(default_factory=list, init=False, repr=False)

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
        """The items of an instance.

        Parameters
        ----------
        joined
            Never part a unit of the instance; False: the problem may be another one than plain clustering.
        contracted
            Contract mentions that provably belong together (:mod:`colgen.solvers.clusters.contraction`); False: an item
            a unit.
        settled
            If ``contracted``, decide all that dual values decide without columns
            (:mod:`colgen.solvers.clusters.persistency`): clusters are settled, and pairs of items are apart.
        smallest
            Components of the graph of positive scores with fewer mentions are left as they are.
        kicks
            Effort of the local search where nothing is settled, so many kicks an item.
        expired
            Asked several times a second; once the answer is yes, what is not contracted or settled stays so.
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
            np.array([_score(scores, group) for group in groups]),
            left.start[order],
            tuple(sorted(_mentions(units, cluster) for cluster in left.settled)),
            sum(_score(scores, cluster) for cluster in left.settled),
            offset,
            units,
            _between(instance.penalties, groups),
            instance.scale,
            not expired(),
            scores,
            left.steps,
        )

    def proved(self, expired: Expired = never) -> Proved:
        """Decide all of it again, from the scores of the mentions and the steps alone: once, whoever asks.

        Where time runs out, the steps until then have proved a bound for all clusterings, and nothing of the rest.

        Raises
        ------
        UnprovedError
            If the steps prove something else.
        """
        if self._proved:
            return self._proved[0]
        state, whole = apply_steps(self.original, self.steps, expired=expired)
        if not whole:
            return Proved(math.inf, state.bound)
        if not self._agrees(state):
            raise UnprovedError("the steps do not lead to these items")
        self._proved.append(Proved(state.worth, state.bound))
        return self._proved[0]

    def _agrees(self, state: State) -> bool:
        """Whether the groups that are left are these items, and their scores the same but for rounding."""
        order = sorted(range(len(state.groups)), key=lambda k: int(state.groups[k][0]))
        if tuple(_mentions(self.units, state.groups[k]) for k in order) != self.groups:
            return False
        near = _NOTHING * max(self.scale, float(np.abs(self.scores).max(initial=0.0)))
        return bool((np.abs(state.scores[np.ix_(order, order)] - self.scores) <= near).all())

    def __len__(self) -> int:
        return len(self.groups)

    def column(self, items: Sequence[int]) -> Column:
        """The column of a cluster of items: its score, and a one in the row of each."""
        return self.priced_column(sorted(items))

    def priced_column(self, chosen: Sequence[int], cost: float | None = None) -> Column:
        """The same of ascending items, whose cost may be known but for rounding."""
        if cost is None or abs(cost) < _ROUNDED * self.scale:
            cost = self._cost(np.asarray(chosen, dtype=np.intp))
        cluster = tuple(sorted(i for k in chosen for i in self.groups[k]))
        return Column(cost, {(COVER, k): 1.0 for k in chosen}, cluster, ("cluster", cluster))

    def _cost(self, chosen: NDArray[np.intp]) -> float:
        pairs, inside = self.scores[chosen[:, None], chosen], self.within[chosen]
        cost = 0.5 * float(pairs.sum()) + float(inside.sum())
        if abs(cost) < _NOTHING * self.scale and abs(cost) <= _NOTHING * float(
            np.abs(pairs).sum() + np.abs(inside).sum()
        ):
            # What rounding leaves of scores that cancel out: among columns that cost nothing it would be the scale.
            return 0.0
        return cost

    def near(self) -> Iterator[Column]:
        """Each item alone, and the clusters of the good clustering with one item less or one more."""
        for k in range(len(self)):
            yield self.priced_column([k])
        for cluster in self.clustering():
            members = cluster.tolist()
            attraction = self.scores[:, cluster].sum(axis=1)
            cost = 0.5 * float(attraction[cluster].sum()) + float(self.within[cluster].sum())
            if len(members) > 2:
                for place, k in enumerate(members):
                    left = cost - float(attraction[k]) - float(self.within[k])
                    yield self.priced_column(members[:place] + members[place + 1 :], left)
            attracted = self.scores[:, cluster].max(axis=1)
            attracted[cluster] = 0.0
            if self.apart is not None:
                attracted[self.apart[:, cluster].any(axis=1)] = 0.0
            for k in np.flatnonzero(attracted > 0.0).tolist():
                more = cost + float(attraction[k]) + float(self.within[k])
                yield self.priced_column(sorted([*members, k]), more)

    def clustering(self) -> list[Ints]:
        """The items of each cluster of the good clustering."""
        return [np.flatnonzero(self.start == c) for c in range(int(self.start.max(initial=-1)) + 1)]


def _mentions(units: Sequence[Cluster], group: Ints) -> Cluster:
    return tuple(sorted(i for k in group.tolist() for i in units[k]))


def _between(pairs: Mask, groups: Sequence[Ints]) -> Mask | None:
    """Which two groups have one of these pairs between them; None if no two have."""
    if not groups or not pairs.any():
        return None
    starts = np.cumsum([0, *map(len, groups)])[:-1]
    order = np.concatenate(groups)
    between = np.logical_or.reduceat(
        np.logical_or.reduceat(pairs[np.ix_(order, order)], starts, axis=0), starts, axis=1
    )
    return between if between.any() else None


def _score(scores: Floats, members: Sequence[int] | Ints) -> float:
    if len(members) < 2:
        return 0.0
    chosen = np.asarray(members, dtype=np.intp)
    return 0.5 * float(scores[chosen[:, None], chosen].sum())


class Contraction:
    """The items to choose a cluster from at a node: those that a decision puts together are one, those it parts repel.

    Parameters
    ----------
    items
        The rows of the master.
    decisions
        The node's: Ryan and Foster's, on rows of the block ``cover``.
    absent
        Items that are in no cluster to be found, because clusters that are fixed cover them.

    Attributes
    ----------
    groups
        The items that make up one item here.
    scores
        Of pairs of these.
    within
        Of each: the scores of the pairs of mentions inside it.
    apart
        Pairs of these that may not be together, symmetric; None if there is none.
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
        # Left out: what holds an absent item, and what is both joined and parted.
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

    def priced(self, duals: Floats, cost_weight: float) -> tuple[Floats, Floats]:
        """Scores of pairs, and what each item earns by itself: the scores inside it less its dual values.

        Two that may not be together have a score so bad that the best cluster holds at most one of them.
        """
        if not self.groups:
            return self.scores, np.empty(0)
        profits = cost_weight * self.within - np.add.reduceat(duals[self._rows], self._starts)
        if cost_weight == 1.0 and self.apart is None:
            return self.scores, profits
        scores = cost_weight * self.scores
        if self.apart is not None:
            # Leaving out either of two that may not be together is better, whatever else is in their cluster.
            worth = np.maximum(scores, 0.0).sum(axis=1) + np.maximum(profits, 0.0)
            margin = max(float(np.abs(profits).max()), cost_weight * self.items.scale) or 1.0
            scores[self.apart] = -(np.maximum(worth[:, None], worth)[self.apart] + margin)
        return scores, profits

    def allowed(self, members: Mask) -> Mask:
        """Which clusters, given as masks, one row each, hold no two that may not be together."""
        if self.apart is None:
            return np.ones(len(members), dtype=np.bool_)
        chosen = members.astype(np.float64)
        return np.asarray(((chosen @ self.apart) * chosen).sum(axis=1) == 0.0)

    def columns(self, members: Mask) -> list[Column]:
        """The columns of clusters given as masks, one row each."""
        return [
            self.items.column([k for here in np.flatnonzero(row) for k in self.groups[here].tolist()])
            for row in members
        ]


def _item(key: tuple[str, object]) -> int:
    assert isinstance(key[1], int)
    return key[1]
