"""Nearly optimal multicommodity flows: valid bounds near the optimum, and paths that serve the demands."""

import numpy as np
import pytest

from colgen.solvers.flows.equilibrium import equilibrium
from colgen.solvers.flows.many_sinks import ManySinks
from tests.networks.flow_programs import network


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_valid_and_near_the_optimum(seed):
    made = network(seed, vertices=10, arcs=40, commodities=8, tightness=0.5)
    best = made.optimum()
    used = (made.demands > 0) & (made.origins != made.destinations)
    finder = ManySinks(10, made.tails, made.heads, made.origins[used], made.destinations[used])
    demands = made.demands[used].astype(float)
    found = equilibrium(finder.search, made.costs, made.capacities, demands)
    assert found.bound <= best + 1e-6 * abs(best)
    assert (found.multipliers >= 0.0).all()
    served = np.bincount(found.owners, found.amounts, minlength=len(demands))
    assert served == pytest.approx(demands)
    weights = np.repeat(found.amounts, np.diff(found.starts))
    assert np.bincount(found.arcs, weights, minlength=len(made.tails)) == pytest.approx(found.flow, abs=1e-9)
    if np.isfinite(best):
        assert found.bound >= best - 0.02 * abs(best) - 1e-6


def test_without_tight_capacities_shortest_paths_are_the_answer():
    finder = ManySinks(3, np.array([0, 0]), np.array([1, 1]), np.array([0]), np.array([1]))
    found = equilibrium(finder.search, np.array([1.0, 2.0]), np.array([5.0, np.inf]), np.array([4.0]))
    assert found.bound == 4.0
    assert found.flow.tolist() == [4.0, 0.0]
    assert not found.multipliers.any()
