"""What the clusters are made of: mentions, or groups of mentions that some best clustering keeps together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colgen import Apart, Column, Decision, Together
from problems.coreference.instance import Cluster, Floats, Instance
from solvers.dual_proof import settle
from solvers.persistency import contracted as contracted_alone
from solvers.persistency import persistent

COVER = "cover"
"""Block of the partitioning rows; their index is the item."""

SMALL = 40
"""Column generation has solved a component of fewer items before it is contracted."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Items:
    """The rows of the master.

    Attributes
    ----------
    groups
        The mentions of each item.
    scores
        Of pairs of items, shape (items, items), zero diagonal.  Of two that some best clustering parts it may be less
        than the sum of their mentions' scores: then no good cluster holds both.
    within
        Of each item: the scores of the pairs inside it.
    start
        The number of each item's cluster in a good clustering.
    settled
        Clusters of mentions that are in no item: dual values prove that some best clustering has them.
    constant
        Their score.
    """

    groups: tuple[Cluster, ...]
    scores: Floats
    within: Floats
    start: Ints
    settled: tuple[Cluster, ...] = ()
    constant: float = 0.0

    @classmethod
    def of(
        cls,
        instance: Instance,
        *,
        contracted: bool = True,
        settled: bool = True,
        smallest: int = SMALL,
        kicks: int = 10,
        seed: int = 0,
    ) -> Items:
        """The items of an instance.

        Parameters
        ----------
        contracted
            Contract mentions that provably belong together (:mod:`solvers.contraction`); False: an item a mention.
        settled
            If ``contracted``, decide all that dual values decide without columns (:mod:`solvers.persistency`): clusters
            are settled, and pairs of items are apart.
        smallest
            Components of the graph of positive scores with fewer mentions are left as they are.
        kicks
            Effort of the local search where nothing is settled, so many kicks an item.
        """
        scores = instance.scores
        n = len(scores)
        if not contracted:
            start, _ = settle(scores, np.arange(n), kicks=kicks, seed=seed, largest=0)
            return cls(tuple((i,) for i in range(n)), scores, np.zeros(n), start)
        if settled:
            left = persistent(scores, smallest=smallest, seed=seed)
        else:
            left = contracted_alone(scores, smallest=smallest, kicks=kicks, seed=seed)
        order = sorted(range(len(left.groups)), key=lambda k: int(left.groups[k][0]))
        return cls(
            tuple(tuple(left.groups[k].tolist()) for k in order),
            np.ascontiguousarray(left.scores[np.ix_(order, order)]),
            np.array([_score(scores, left.groups[k]) for k in order]),
            left.start[order],
            tuple(sorted(tuple(cluster.tolist()) for cluster in left.settled)),
            sum(_score(scores, cluster) for cluster in left.settled),
        )

    def __len__(self) -> int:
        return len(self.groups)

    def column(self, items: Sequence[int]) -> Column:
        """The column of a cluster of items: its score, and a one in the row of each."""
        chosen = sorted(items)
        cost = _score(self.scores, chosen) + float(self.within[chosen].sum())
        cluster = tuple(sorted(i for k in chosen for i in self.groups[k]))
        return Column(cost, {(COVER, k): 1.0 for k in chosen}, cluster, ("cluster", cluster))

    def clustering(self) -> list[Ints]:
        """The items of each cluster of the good clustering."""
        return [np.flatnonzero(self.start == c) for c in range(int(self.start.max(initial=-1)) + 1)]


def _score(scores: Floats, members: Sequence[int] | Ints) -> float:
    chosen = np.asarray(members, dtype=np.intp)
    return 0.5 * float(scores[np.ix_(chosen, chosen)].sum()) if len(chosen) > 1 else 0.0


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
        Pairs of these that may not be together.
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
        # Left out: what holds an absent item, and what the decisions both join and part.
        impossible = {int(place[i]) for i in absent} | {a for a, b in apart if a == b}
        present = np.array([k for k in range(len(names)) if k not in impossible], dtype=np.intp)
        position = {int(k): here for here, k in enumerate(present)}
        self.groups: list[NDArray[np.intp]] = [np.flatnonzero(place == k) for k in present]
        self.apart = [(position[a], position[b]) for a, b in apart if a in position and b in position]
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

        Two that may not be together have a score so bad that no good cluster holds both.
        """
        if not self.groups:
            return self.scores, np.empty(0)
        profits = cost_weight * self.within - np.add.reduceat(duals[self._rows], self._starts)
        if cost_weight == 1.0 and not self.apart:
            return self.scores, profits
        scores = cost_weight * self.scores
        most = 1.0 + 2.0 * float(np.maximum(profits, 0.0).sum())
        for a, b in self.apart:
            scores[a, b] = scores[b, a] = -most - 2.0 * float(np.maximum(self.scores[[a, b]], 0.0).sum())
        return scores, profits

    def columns(self, members: NDArray[np.bool_]) -> list[Column]:
        """The columns of clusters given as masks, one row each."""
        return [
            self.items.column([k for here in np.flatnonzero(row) for k in self.groups[here].tolist()])
            for row in members
        ]


def _item(key: tuple[str, object]) -> int:
    assert isinstance(key[1], int)
    return key[1]
