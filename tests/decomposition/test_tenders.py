"""Two-stage programs whose second stages have few points, by a tree over tenders."""

import math

import numpy as np
import pytest
from scipy import sparse

from colgen import CompactModel, decompose, solve
from colgen.core.result import OWN
from colgen.core.sense import Sense
from colgen.decomposition.reading.compact_model import MASTER, Names, Partition
from colgen.decomposition.tenders import Tenders
from colgen.model.rows import Rows
from tests.decomposition.two_stages import optimum


def capacities(rng, *, last_is_integer=True, least=-np.inf):
    """Return a plan of capacities, to which tasks are assigned at a cost, or rejected at a larger one."""
    resources, tasks, periods, count = (int(rng.integers(*ends)) for ends in ((1, 3), (1, 4), (1, 3), (2, 6)))
    first, sign = 2 * resources, float(rng.choice([1.0, -1.0]))
    width = periods * tasks * (resources + 1)
    columns, height = first + count * width, resources + count * periods * (resources + tasks)
    matrix, costs = np.zeros((height, columns)), np.zeros(columns)
    costs[:first] = np.tile([1.0, 3.0], resources) * rng.integers(1, 6, first)
    row_lower, row_upper = np.full(height, -np.inf), np.zeros(height)
    is_whole = rng.random() < 0.3
    for i in range(resources):
        matrix[i, [2 * i, 2 * i + 1]] = 1.0, -5.0
    row = resources
    for s in range(count):
        for t in range(periods):
            begin = first + s * width + t * tasks * (resources + 1)
            y = np.arange(begin, begin + tasks * (resources + 1)).reshape(tasks, resources + 1)
            demand = rng.integers(1, 4, tasks) if is_whole else rng.random(tasks).round(3) + 0.3
            costs[y[:, :-1]] = rng.integers(1, 9, (tasks, resources)) / count
            costs[y[:, -1]] = 12.0 / count
            for i in range(resources):
                turn = float(rng.choice([1.0, -1.0]))
                matrix[row, y[:, i]], matrix[row, 2 * i] = turn * demand, -turn
                if turn < 0.0:
                    row_lower[row], row_upper[row] = 0.0, np.inf
                row += 1
            for k in range(tasks):
                matrix[row, y[k]], row_lower[row], row_upper[row] = 1.0, 1.0, 1.0
                row += 1
    upper = np.ones(columns)
    upper[:first:2] = np.inf
    integer = np.ones(columns, dtype=bool)
    integer[:first:2] = is_whole
    integer[-1] = last_is_integer
    row_lower[np.isinf(row_lower)] = least
    formulation = Rows.of_arrays(
        Sense.MINIMIZE if sign > 0.0 else Sense.MAXIMIZE,
        sparse.csc_array(matrix),
        columns=(tuple(("x", k) for k in range(columns)), sign * costs, np.zeros(columns), upper),
        rows=(tuple(("r", k) for k in range(height)), row_lower, row_upper),
        integer=integer,
        artificial=np.zeros(columns, dtype=bool),
        offset=3.0,
    )
    names = Names("plan", tuple(f"x{k}" for k in range(columns)), tuple(f"r{k}" for k in range(height)))
    of_columns = [MASTER] * first + [s for s in range(count) for _ in range(width)]
    of_rows = [MASTER] * resources + [s for s in range(count) for _ in range(periods * (resources + tasks))]
    blocks = Partition(tuple(f"s{k}" for k in range(count)), np.array(of_columns), np.array(of_rows))
    return CompactModel(formulation, names, blocks=blocks)


@pytest.mark.parametrize("seed", range(30))
def test_random_plans_have_the_optimum_of_the_extensive_form(seed):
    compact = capacities(np.random.default_rng(seed))
    status, objective = optimum(compact)
    problem = decompose(compact, aggregate=False, method="dantzig-wolfe")
    result = solve(problem, time_limit=20)
    assert (result.termination.name, status) == ("OPTIMAL", "OPTIMAL")
    assert result.objective == pytest.approx(objective, rel=2e-6)
    assert result.bound_source == OWN


@pytest.mark.parametrize("seed", range(10))
def test_bounds_rise_to_the_optimum_and_never_exceed_it(seed):
    compact = capacities(np.random.default_rng(100 + seed))
    f = compact.formulation
    problem = decompose(compact, aggregate=False, method="dantzig-wolfe")
    tenders = Tenders.of(problem.splitting, problem.stage)
    assert tenders is not None
    truth = f.sense.sign * (optimum(compact)[1] - f.offset)
    bounds = [found.bound for found in tenders.search(math.inf, lambda: math.inf)]
    assert max(bounds) <= truth * (1.0 + 1e-6)
    assert bounds[-1] == pytest.approx(truth, rel=1e-6)


def test_there_are_no_tenders_with_continuous_second_stages_or_rows_with_two_sides():
    for change in ({"last_is_integer": False}, {"least": -50.0}):
        compact = capacities(np.random.default_rng(0), **change)
        problem = decompose(compact, aggregate=False, method="dantzig-wolfe")
        assert Tenders.of(problem.splitting, problem.stage) is None
