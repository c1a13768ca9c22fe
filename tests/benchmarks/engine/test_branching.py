"""The trees on which choices among candidates are compared."""

from benchmarks.engine import branching
from colgen import Method, MostFractional, solve


def test_there_are_twenty_instances_of_three_problems():
    instances = branching._instances()
    assert len(instances) == 3
    assert sum(map(len, instances.values())) == 20


def test_routes_are_proved_by_the_tree_alone():
    result = solve(branching.WithoutEnumeration(3, customers=14), method=Method(choice=MostFractional()))
    assert result.is_optimal
    assert result.objective == solve(branching.VehicleRouting(branching.routing(3, customers=14))).objective
