"""Small instances of the large masters: oracle and bounds are compared with all columns."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy.optimize import linprog

from benchmarks.runs.large import FAMILIES, Partition, Size, draw, fit_exponent
from colgen import Method, NoStabilization, PricingContext, Sense, solve
from colgen.bounding.volume import Volume
from colgen.master.statement import restricted_master


def all_columns(problem):
    """Costs, and which rows each chain covers."""
    costs, rows = [], []
    for stride in range(problem.costs.shape[0]):
        for first in range(problem.rows):
            for length in range(problem.costs.shape[2]):
                places = (first + problem.strides[stride] * np.arange(length + 1)) % problem.rows
                costs.append(problem.costs[stride, first, length])
                rows.append(np.bincount(places, minlength=problem.rows))
    return np.array(costs), np.array(rows, dtype=float)


@pytest.fixture(scope="module")
def small():
    problem = Partition(45, 3)
    return problem, *all_columns(problem)


def test_pricing_finds_the_best_chain_and_the_total(small):
    problem, costs, rows = small
    assert rows.max() == 1.0
    master, (oracle,) = restricted_master(problem.master()), problem.pricing()
    rng = np.random.default_rng(0)
    for _ in range(10):
        values = rng.normal(1.0, 1.0, problem.rows)
        duals = master.rows.guess({"cover": values})
        found = oracle.price(duals, PricingContext(Sense.MINIMIZE))
        reduced = costs - rows @ values
        assert found.bound == pytest.approx(reduced.min())
        assert master.price(found.columns, duals) == pytest.approx(found.reduced_costs)
        firsts = np.tile(np.repeat(np.arange(problem.rows), problem.costs.shape[2]), len(problem.strides))
        best = [min(reduced[firsts == first].min(), 0.0) for first in range(problem.rows)]
        assert found.total == pytest.approx(sum(best))
        columns, amounts = found.attained()
        assert amounts @ np.asarray(master.price(columns, duals)) == pytest.approx(found.total)


def test_the_relaxation_is_that_of_all_columns(small):
    problem, costs, rows = small
    whole = linprog(costs, A_eq=rows.T, b_eq=np.ones(problem.rows), method="highs")
    assert solve(problem, relaxation=True).objective == pytest.approx(whole.fun)
    plain = solve(problem, relaxation=True, method=Method(stabilization=NoStabilization()))
    assert plain.objective == pytest.approx(whole.fun)
    near = solve(problem, relaxation=True, method=Method(bounding=Volume(300)))
    assert 0.97 * whole.fun <= near.dual_bound <= whole.fun * (1.0 + 1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_each_family_reports_its_effort(name):
    family, counts = FAMILIES[name]
    one = family(60, 30.0)
    assert one.rows == 60
    assert one.ended
    assert one.rounds > 1
    assert one.nonzeros > 60
    assert one.bytes > 2**20
    assert list(counts) == sorted(counts)


def test_growth_is_the_slope_between_the_ends():
    sizes = [Size(10 * n, n, 5, 5.0 * 0.01 * n**1.5, 10**8, True) for n in (10, 40, 160)]
    assert fit_exponent(sizes) == pytest.approx(1.5)
    axes = draw({"one": sizes, "another": sizes[:2]})
    assert isinstance(axes, Axes)
    assert axes.get_xlabel() == "nonzeros"
