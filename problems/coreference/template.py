"""Coreference clustering on the engine; copy or subclass it for other clustering problems."""

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

_VERIFICATION_SHARE = 0.3
"""Share of the time left for verifying the reductions and for rounds."""

_ROUNDS = 0.7
"""Share of the remaining time left for rounds when initial columns are created."""


class Coreference(Problem[list[Cluster]]):
    """Coreference clustering by column generation, with branching on pairs of mentions.

    The answer is a list of clusters, each a tuple of mentions.

    The reductions are valid for *plain* clustering, in which only scores of pairs count. A subclass may solve another
    problem, so by default it has one row per mention, no reductions, and only its own initial solutions. A subclass
    that still solves plain clustering declares ``plain = True`` in its own body.

    Parameters
    ----------
    contracted
        Contract mentions that provably share a cluster, so that each row is a group of mentions. Otherwise each row is
        a mention.
    settled
        If contracted, also remove components of the graph of positive scores whose best clustering dual values prove.
    smallest
        Contract only components with at least this many mentions.
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
        self._partial = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_partial"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _partial=threading.local())

    @property
    def objective_step(self) -> float | None:  # type: ignore[override]
        """The step of the instance for plain clustering; None for other problems, which may state their own."""
        return self.instance.step if self.is_plain else None

    @property
    def scale(self) -> float | None:  # type: ignore[override]
        """The scale of the instance, or of its units for plain clustering."""
        return self.instance.contracted.scale if self.is_plain else self.instance.scale

    @property
    def is_plain(self) -> bool:
        """Whether this is plain clustering."""
        return is_plain(self)

    def certifier(self) -> Certifier:
        return ClusterCertifier(self.instance, self.answer) if self.is_plain else super().certifier()

    @property
    def items(self) -> Items:
        """The items that clusters consist of, computed at the first access, or by a run within its time limit."""
        hurried: Items | None = getattr(self._partial, "items", None)
        if hurried is not None:
            return hurried
        if self._items is None:
            self._items = self._find_items(never)
        return self._items

    def _prepare(self, budget: Budget) -> Items:
        """Return the items, computed within the budget; incomplete ones are used by this run and thread only."""
        self._partial.items = None
        if self._items is None:
            least = _VERIFICATION_SHARE * budget.seconds_left  # items found later could not be verified in time
            found = self._find_items(lambda: budget.expired or budget.seconds_left < least)
            if not found.complete:
                self._partial.items = found
                return found
            self._items = found
        return self._items

    def _find_items(self, expired: Expired) -> Items:
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
        # The items first, because the rest of the run needs them.
        items = self._prepare(budget)
        if not self.is_plain:
            return WarmStart()
        columns = [items.column(cluster.tolist()) for cluster in items.clustering()]
        score = items.offset + items.constant + sum(column.cost for column in columns)
        answer = Solution(score, tuple((column, 1.0) for column in columns))
        return WarmStart(self._first_duals(items), (answer,), self._first_columns(items, budget))

    @staticmethod
    def _first_duals(items: Items) -> dict[str, Floats]:
        # Half of the item's scores in its cluster. Then no part of a cluster that is best as a unit has a positive
        # reduced cost.
        same = items.start[:, None] == items.start
        return {COVER: items.within + 0.5 * np.where(same, items.scores, 0.0).sum(axis=1)}

    @staticmethod
    def _first_columns(items: Items, budget: Budget) -> Iterator[Column]:
        # An item can always be alone. The clusters of the initial solution with one item more or less bound its dual
        # value from both sides: by its score in other clusters and in its own. Without them, the first dual solutions
        # concentrate the value of a cluster on a few items.
        seconds = budget.seconds_left
        for column in items.neighbour_columns():
            # With many items there are very many of these columns, so most of the time is reserved for rounds.
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
