"""Separation: capacity cuts first, which do not change pricing, then rank-1 cuts."""

from __future__ import annotations

from colgen import RankOne, RoundedCapacity, Separation
from colgen.cuts.in_turn import InTurn
from colgen.enumeration import FewPathsLeft
from colgen.problems.vehicle_routing.branching import arcs_of
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.problems.vehicle_routing.pricing import ARC, RouteOracle, visits


def capacity_then_rank_one(instance: RoutingInstance, oracle: RouteOracle) -> Separation:
    """Return a separation of rounded capacity cuts, then of rank-1 cuts over the customers' rows."""
    demands = {i: float(instance.demands[i]) for i in instance.customers}
    capacity = RoundedCapacity(arcs_of, demands, float(instance.capacity), block=ARC)  # type: ignore[arg-type]
    return InTurn(capacity, RankOne("visit", order=visits), enough=FewPathsLeft((oracle,)))
