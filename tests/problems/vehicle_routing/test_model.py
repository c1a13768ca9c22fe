"""The compact model against enumeration."""

import pytest

from colgen import InputError
from colgen.problems.vehicle_routing import RoutingInstance, random
from colgen.problems.vehicle_routing.model import full
from colgen.reporting.compared import solve_complete
from tests.sweeps import seeds
from tests.twins.vehicle_routing import optimum


@pytest.mark.parametrize("seed", seeds(24, 6))
def test_two_index(seed):
    instance = random(seed, customers=5, windows=seed % 2 == 0, stops=2 + seed % 3)
    found = solve_complete(full(instance), 60.0)
    assert found.objective == pytest.approx(optimum(instance))


def test_the_vehicle_limit():
    square = ((0.0, 1.0, 1.0), (1.0, 0.0, 5.0), (1.0, 5.0, 0.0))
    assert solve_complete(full(RoutingInstance(square, (0, 1, 1), 2)), 60.0).objective == pytest.approx(4.0)
    assert solve_complete(full(RoutingInstance(square, (0, 1, 1), 2, vehicles=1)), 60.0).objective == pytest.approx(7.0)


def test_there_is_one_formulation():
    with pytest.raises(InputError, match="one of two_index"):
        full(random(0), formulation="three_index")
