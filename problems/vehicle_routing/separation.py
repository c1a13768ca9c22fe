"""Cuts: on capacities first, which cost pricing nothing, then rank-1 cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen import RankOne, RoundedCapacity, Separation, SeparationContext, Solution
from colgen.core.columns import Row
from problems.vehicle_routing.branching import arcs_of
from problems.vehicle_routing.instance import Instance
from problems.vehicle_routing.pricing import ARC, visits


class InTurn(Separation):
    """Separations one after the other: a later one is asked where the earlier ones find nothing."""

    def __init__(self, *separations: Separation) -> None:
        self.separations = separations

    def suit(self, master: Any) -> None:
        for separation in self.separations:
            separation.suit(master)

    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        for separation in self.separations:
            rows = separation.separate(solution, context) if separation.applies(context.depth) else ()
            if rows:
                return rows
        return ()


def capacity_then_rank_one(instance: Instance) -> Separation:
    """Rounded capacity cuts, and rank-1 cuts over the customers' rows once there are none of those."""
    demands = {i: float(instance.demands[i]) for i in instance.customers}
    capacity = RoundedCapacity(arcs_of, demands, float(instance.capacity), block=ARC)  # type: ignore[arg-type]
    return InTurn(capacity, RankOne("visit", order=visits))
