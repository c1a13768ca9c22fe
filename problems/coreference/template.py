"""Coreference clustering on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from colgen import (
    BranchingRule,
    Column,
    LinearMaster,
    Method,
    Pricing,
    Problem,
    RestrictedMIP,
    Rows,
    RyanFoster,
    Solution,
    Stages,
)
from colgen.certificate.certifier import Certifier
from colgen.claims import is_plain
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.warm_start import WarmStart
from colgen.problems.coreference.document import Cluster
from colgen.problems.coreference.instance import CoreferenceInstance, Floats
from colgen.problems.coreference.items import COVER, SMALL, Items
from colgen.problems.coreference.model import master
from colgen.problems.coreference.pricing import ClusterSearch, GrowingClusters
from colgen.problems.coreference.proof import ClusterCertifier
from colgen.solvers.stopping import Expired, never

_PROOF = 0.3
"""Share of the time that is left by finding the items: taking the steps again, and rounds."""

_ROUNDS = 0.7
"""Share of the time that is left to the rounds by what they start from."""


class Coreference(Problem[list[Cluster]]):
    """Clustering by column generation; where the relaxation is fractional, by branching on pairs of mentions.

    The answer is a list of clusters, each a tuple of mentions.

    What is contracted, settled, or known before there is a master is argued from the scores alone.  A subclass may
    solve another problem, so nothing of the kind is done for it: its rows are single mentions, and it starts without
    guesses other than its own.  One that still solves plain clustering declares ``plain = True`` in its own body.

    Parameters
    ----------
    contracted
        Let the rows of the master be groups of mentions that provably belong together; False: a row a mention.
    settled
        Leave components of the graph of positive scores out of the master that dual values alone prove, if contracted.
    smallest
        Only components with so many mentions are worth contracting.
    """

    plain: ClassVar[bool] = True
    """Whether this class solves plain clustering; each subclass declares it for itself."""

    def __init__(
        self, instance: CoreferenceInstance, *, contracted: bool = True, settled: bool = True, smallest: int = SMALL
    ) -> None:
        self.instance = instance
        self.contracted = contracted
        self.settled = settled
        self.smallest = smallest
        self._items: Items | None = None
        self._hurried = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hurried"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _hurried=threading.local())

    @property
    def objective_step(self) -> float | None:  # type: ignore[override]
        """That of the instance; of another problem it has to be stated."""
        return self.instance.step if self.is_plain else None

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """That of the instance; of plain clustering, of its units."""
        return self.instance.contracted.scale if self.is_plain else self.instance.scale

    @property
    def is_plain(self) -> bool:
        """Whether this is plain clustering."""
        return is_plain(self)

    def certifier(self) -> Certifier:
        return ClusterCertifier(self.instance, self.answer) if self.is_plain else super().certifier()

    @property
    def items(self) -> Items:
        """What the clusters are made of: found out by a run, in the time that it has, or when first asked for."""
        hurried: Items | None = getattr(self._hurried, "items", None)
        if hurried is not None:
            return hurried
        if self._items is None:
            self._items = self._found(never)
        return self._items

    def _prepare(self, budget: Budget) -> Items:
        """The items, in the time that there is: what is cut short counts for this run alone, in this thread."""
        self._hurried.items = None
        if self._items is None:
            least = _PROOF * budget.seconds_left  # what is found in the last moment would have no time to be proved
            found = self._found(lambda: budget.expired or budget.seconds_left < least)
            if not found.complete:
                self._hurried.items = found
                return found
            self._items = found
        return self._items

    def _found(self, expired: Expired) -> Items:
        contracted = self.contracted and self.is_plain
        return Items.of(
            self.instance,
            joined=self.is_plain,
            contracted=contracted,
            settled=self.settled,
            smallest=self.smallest,
            kicks=10 if self.is_plain else 0,
            expired=expired,
        )

    def master(self) -> Rows:
        rows = master(len(self.items)).copy()
        rows.offset = self.items.constant + self.items.offset
        rows.solved_by = partial(LinearMaster, central=True)
        return rows

    def pricing(self) -> Pricing:
        return Stages(GrowingClusters(self.items), ClusterSearch(self.items))

    def branching(self) -> Sequence[BranchingRule]:
        return (RyanFoster(COVER),)

    def method(self) -> Method:
        return Method(heuristics=(RestrictedMIP(5.0),))

    def warm_start(self, budget: Budget) -> WarmStart:
        # The items first, whatever is known of the problem: the rest of the run asks for them.
        items = self._prepare(budget)
        if not self.is_plain:
            return WarmStart()
        columns = [items.column(cluster.tolist()) for cluster in items.clustering()]
        score = items.offset + items.constant + sum(column.cost for column in columns)
        answer = Solution(score, tuple((column, 1.0) for column in columns))
        return WarmStart(self._first_duals(items), (answer,), self._first_columns(items, budget))

    @staticmethod
    def _first_duals(items: Items) -> dict[str, Floats]:
        # Half of what an item scores in its cluster: then no part of a cluster that is best as a whole prices in.
        same = items.start[:, None] == items.start
        return {COVER: items.within + 0.5 * np.where(same, items.scores, 0.0).sum(axis=1)}

    @staticmethod
    def _first_columns(items: Items, budget: Budget) -> Iterator[Column]:
        # An item can always be left alone.  The clusters of the first answer with one item more or one less tie its
        # dual value down: between what it would score in another cluster and what it scores in its own.  Without
        # them the first dual solutions heap the value of a cluster on a few of its items.
        seconds = budget.seconds_left
        for column in items.near():
            # Of many items there are very many of these: what they take leaves most of the time to the rounds.
            if budget.expired or budget.seconds_left < _ROUNDS * seconds:
                return
            yield column

    def codec(self) -> Codec:
        return Codec(self._read)

    def _read(self, data: Any) -> Column | None:
        mentions, items = {int(i) for i in data}, self.items
        whole = [k for k, group in enumerate(items.groups) if mentions.issuperset(group)]
        if not whole or (items.apart is not None and items.apart[np.ix_(whole, whole)].any()):
            return None
        return items.column(whole)

    def check(self, answer: Iterable[Sequence[int]]) -> float | None:
        return self.instance.check(answer)

    def answer(self, solution: Solution) -> list[Cluster]:
        return sorted([*self.items.settled, *(column.structure for column, _ in solution.columns)])
