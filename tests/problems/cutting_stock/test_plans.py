import importlib.util

import numpy as np
import pytest

from benchmarks.engine.loops import highs_loop, scip_loop
from colgen import solve
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, bin_packing, uniform
from colgen.problems.cutting_stock.model import full
from colgen.problems.cutting_stock.plans import best_fit_decreasing, first_fit_decreasing
from colgen.reporting.compared import solve_complete
from colgen.solvers.linear.lp import LPStatus
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum, tiny


@pytest.mark.parametrize("heuristic", [first_fit_decreasing, best_fit_decreasing])
@pytest.mark.parametrize("seed", range(20))
def test_heuristics_return_answers(seed, heuristic):
    for instance in (tiny(np.random.default_rng(seed)), bin_packing(40, seed), uniform(15, seed)):
        instance.check(heuristic(instance))
    small = tiny(np.random.default_rng(seed))
    assert small.check(heuristic(small)) >= optimum(small)


def one_by_one(instance):
    """First-fit decreasing by its definition: piece by piece, roll by roll."""
    room = []
    for item in sorted(range(instance.num_items), key=lambda i: -instance.widths[i]):
        for _ in range(instance.demands[item]):
            fitting = [r for r, left in enumerate(room) if left >= instance.widths[item]]
            if not fitting:
                room.append(instance.roll)
            room[fitting[0] if fitting else -1] -= instance.widths[item]
    return len(room)


@pytest.mark.parametrize("seed", range(20))
def test_first_fit_decreasing_equals_its_definition(seed):
    for instance in (bin_packing(50, seed), uniform(10, seed)):
        assert instance.objective(first_fit_decreasing(instance)) == one_by_one(instance)


def test_best_fit_of_remaining_demands():
    instance = CuttingStockInstance(10, (6, 4), (5, 5))
    plan = best_fit_decreasing(instance, [1, 2])
    assert sorted(plan) == [(((0, 1), (1, 1)), 1), (((1, 1),), 1)]
    assert best_fit_decreasing(instance, [0, 0]) == []


def test_time_limit():
    solution = solve_complete(full(bin_packing(150, 0), "arc_flow"), time_limit=0.01)
    assert solution.status is LPStatus.LIMIT


@pytest.mark.parametrize("seed", range(4))
def test_loops_agree_with_the_engine(seed):
    instance = uniform(25, seed)
    expected = solve(CuttingStock(instance), relaxation=True).objective
    assert highs_loop(instance).objective == pytest.approx(expected, rel=1e-9)
    if importlib.util.find_spec("pyscipopt") is not None:
        assert scip_loop(instance).objective == pytest.approx(expected, rel=1e-7)


def best_one_by_one(instance, demands):
    """Best-fit decreasing one piece at a time; returns the space left on each roll."""
    rooms = []
    for item in sorted(range(instance.num_items), key=lambda item: -instance.widths[item]):
        for _ in range(demands[item]):
            fitting = [room for room in rooms if room >= instance.widths[item]]
            room = min(fitting, default=instance.roll)
            if fitting:
                rooms.remove(room)
            rooms.append(room - instance.widths[item])
    return sorted(rooms)


@pytest.mark.parametrize("seed", seeds(60))
def test_best_fit_of_many_pieces_equals_best_fit_piece_by_piece(seed):
    rng = np.random.default_rng(seed)
    widths = tuple(int(w) for w in rng.choice(np.arange(1, 31), int(rng.integers(1, 7)), replace=False))
    instance = CuttingStockInstance(30, widths, tuple(int(d) for d in rng.integers(1, 40, len(widths))))
    plan = best_fit_decreasing(instance)
    assert instance.check(plan) == sum(rolls for _, rolls in plan)
    rooms = [30 - sum(widths[i] * n for i, n in pattern) for pattern, rolls in plan for _ in range(rolls)]
    assert sorted(rooms) == best_one_by_one(instance, instance.demands)


def test_demands_of_millions_cost_no_more_than_demands_of_tens():
    instance = CuttingStockInstance(100, (45, 36, 31, 14), (25_000_000, 20_000_000, 40_000_000, 10_000_000))
    assert instance.check(best_fit_decreasing(instance)) >= instance.material_bound
