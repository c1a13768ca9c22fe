"""Several depots: models against enumeration of all routes, and the compact model."""

import numpy as np
import pytest

from benchmarks.harness import BenchOptions
from benchmarks.networks.depots import Depots, depots, depots_proved, generate, optimum
from colgen import CompactModel, Termination, decompose, solve
from colgen.decomposition.undecomposed import Undecomposed


@pytest.mark.parametrize("seed", range(3))
def test_the_compact_model_is_exact(seed):
    instance = generate(seed, customers=5)
    model = depots(instance)
    assert not any(model.component(f"depot_{d}").compact() for d in range(len(instance.vehicles)))
    found = solve(Undecomposed(CompactModel.from_pyomo(model))).objective
    assert found == solve(decompose(depots(instance))).objective == optimum(instance)


def test_too_few_vehicles_are_infeasible():
    distances, owners, loads, capacities, vehicles = generate(0, customers=5)
    instance = Depots(distances, owners, np.full_like(loads, 9), np.full_like(capacities, 9), np.ones_like(vehicles))
    assert optimum(instance) == np.inf
    assert solve(decompose(depots(instance))).termination is Termination.INFEASIBLE


def test_figures_count_proved_instances():
    equal, seconds = depots_proved(BenchOptions(quick=True))
    assert (equal.value, equal.n) == (3, 3)
    assert seconds.value > 0.0
