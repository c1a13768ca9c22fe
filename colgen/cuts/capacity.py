"""Rounded capacity cuts, which are robust, for problems whose columns are routes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from colgen.core.columns import Column, Key, Row
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.terms import Linear
from colgen.core.tolerances import TOLERANCES
from colgen.cuts.cut import Cuts
from colgen.cuts.separation import Separation, SeparationContext
from colgen.solvers.cuts.capacity import violated_capacity

Arc = tuple[Hashable, Hashable]


class RoundedCapacity(Separation):
    """At most ``|S| - ⌈d(S) / Q⌉`` arcs between the places of a set S of customers that are visited once.

    The cuts are :class:`colgen.core.terms.Linear` terms over arcs.  An oracle that reads ``duals.items(block)`` prices
    them without changes.

    Parameters
    ----------
    arcs
        The arcs of a column with counts: ``arcs(column) -> {(from, to): times}``.
    demands
        Demand of each customer.  Each is visited once in every feasible solution.  Omit the depot.
    capacity
        Capacity of a vehicle.
    places
        The ends of arcs at which each customer may be visited; by default the customers are the ends themselves.
    block, cuts
        Blocks of the arcs and of the cuts.
    limit
        Maximum number of cuts per round.

    Examples
    --------
    >>> def arcs(column):
    ...     return dict.fromkeys(zip(column.structure, column.structure[1:]), 1.0)
    >>> cuts = RoundedCapacity(arcs, {1: 3.0, 2: 4.0}, capacity=5.0)
    """

    def __init__(
        self,
        arcs: Callable[[Column], Mapping[Arc, float]],
        demands: Mapping[Hashable, float],
        capacity: float,
        *,
        places: Mapping[Hashable, Sequence[Hashable]] | None = None,
        block: str = "arc",
        least: float = 0.05,
        limit: int = 20,
        every: int = 1,
        cuts: str = "capacity",
        idle_after: int | None = 10,
    ) -> None:
        if not demands or any(not 0.0 <= demand <= capacity < math.inf for demand in demands.values()):
            raise InputError(f"capacity: expected a finite number, at least as large as each demand, got {capacity}")
        self.arcs, self.block, self.capacity = arcs, block, capacity
        self.least, self.every, self._most = least, every, limit
        self._places = [(name,) if places is None else tuple(places[name]) for name in demands]
        self._number = {place: k for k, mine in enumerate(self._places) for place in mine}
        self._demands = np.array(list(demands.values()), dtype=float)
        self.family = Cuts(cuts, components=arcs, idle_after=idle_after)  # type: ignore[arg-type]

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        if context.whole:
            return ()
        number = self._number
        flow = np.zeros((len(self._places), len(self._places)))
        for column, value in solution.columns:
            for (tail, head), times in self.arcs(column).items():
                if tail in number and head in number:
                    flow[number[tail], number[head]] += value * times
        np.fill_diagonal(flow, 0.0)  # between two places of a customer
        sets, _ = violated_capacity(flow, self._demands, self.capacity, least=self.least, limit=self._most)
        return [self._cut(np.flatnonzero(mine).tolist()) for mine in sets]

    def restated(self, key: Key) -> Row | None:
        term = key[1]
        if key[0] != self.family.block or not isinstance(term, Linear) or term.block != self.block:
            return None
        ends = {end for arc in term.members if isinstance(arc, tuple) for end in arc}
        if not ends or any(end not in self._number for end in ends):
            return None
        row = self._cut(sorted({self._number[end] for end in ends}))
        return row if row.key == key else None

    def _cut(self, customers: list[int]) -> Row:
        pairs = itertools.permutations([self._places[k] for k in customers], 2)
        inside = tuple(arc for tails, heads in pairs for arc in itertools.product(tails, heads))
        vehicles = math.ceil(float(self._demands[customers].sum()) / self.capacity - TOLERANCES.pruning)
        return self.family.cut(Linear(self.block, inside, (1.0,) * len(inside)), upper=float(len(customers) - vehicles))
