"""Subgradients of the dual bound, held against the bound by finite differences, for each problem that is measured.

The bound is written out here once more, from the instances alone: with as many columns of each pricing problem as the
master uses, or, where machines are different ones, with one of each.
"""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from benchmarks.engine.trees import PoolPartition
from colgen import Column, Directional, Method, Problem, WarmStart, artificial, solve
from colgen.core.budget import Budget
from colgen.master.statement import restricted_master
from colgen.problems.assignment import random as assignment
from colgen.problems.assignment.template import Unguessed
from colgen.problems.colouring import Colouring
from colgen.problems.colouring import random as graph
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.cutting_stock.generators import bin_packing, triplets, uniform
from tests.toys import Pool

_NEAR, _STEP = 1e-7, 1e-5


def seen(problem, start=None, stabilization=None):
    """The subgradients of the real objective that a run asks for, where, and what the master used there."""
    master, asked = restricted_master(problem.master()), []
    inner = master.rows.subgradient

    def subgradient(solved, answers, duals):
        found = inner(solved, answers, duals)
        if found is not None and solved.phase == 2:
            total = solved.values[master.table.origins >= -1].sum()
            each = [solved.values[master.table.origins == k].sum() for k in range(len(answers))]
            asked.append((duals.values, found, float(total), each))
        return found

    master.rows.subgradient = subgradient
    problem.master = lambda: master
    smoothed = Directional() if stabilization is None else stabilization
    solve(problem, relaxation=True, start=start or WarmStart(), method=Method(stabilization=smoothed))
    return asked


def packings(widths, demands, roll):
    """All packings of a roll, as rows of copies."""
    ranges = [range(min(demand, roll // width) + 1) for width, demand in zip(widths, demands, strict=True)]
    every = np.array(list(itertools.product(*ranges)))
    return every[every @ np.array(widths) <= roll]


def of_packing(instance):
    patterns = packings(instance.widths, instance.demands, instance.roll)
    demands = np.array(instance.demands, dtype=float)

    def bound(duals, total, each):
        return float(duals @ demands) + total * min(0.0, 1.0 - float((patterns @ duals).max()))

    return bound


def of_assignment(instance):
    """Columns of all sets of tasks; a machine that does nothing is idle, at no cost."""
    sets = np.array(list(itertools.product((0, 1), repeat=instance.num_tasks)))
    fits = [sets[sets @ sizes <= room] for sizes, room in zip(instance.sizes, instance.capacities, strict=True)]

    def bound(duals, total, each):
        tasks, machines = duals[: instance.num_tasks], duals[instance.num_tasks :]
        value = float(duals.sum())
        for costs, mine, own in zip(instance.costs, fits, machines, strict=True):
            value += min(0.0, -own) + min(0.0, float((mine @ (costs - tasks)).min()) - own)
        return value

    return bound


def of_colouring(oracle):
    near = oracle.adjacency.astype(int)
    sets = np.array(list(itertools.product((0, 1), repeat=len(near))))
    stable = sets[np.einsum("ki,ij,kj->k", sets, near, sets) == 0]

    def bound(duals, total, each):
        return float(duals.sum()) + total * min(0.0, 1.0 - float((stable @ duals).max()))

    return bound


def of_partition(problem):
    def bound(duals, total, each):
        best = [float((pool.costs - pool.matrix @ duals).min()) for pool in problem.pools]
        return float(duals.sum()) + sum(count * min(0.0, least) for count, least in zip(each, best, strict=True))

    return bound


def is_tangent(bound, duals, slope, total, each):
    """No point near has a better bound than the tangent says, and where the bound is smooth the slope is its."""
    here = bound(duals, total, each)
    size = max(1.0, abs(here))
    random = np.random.default_rng(0)
    for step in (_STEP, 0.01, 0.3):
        for _ in range(8):
            move = step * random.uniform(-1.0, 1.0, len(duals)) * np.abs(duals).max()
            assert bound(np.maximum(duals + move, np.minimum(duals, 0.0)), total, each) <= (
                here + slope @ (np.maximum(duals + move, np.minimum(duals, 0.0)) - duals) + _NEAR * size
            )
    smooth = 0
    for i in np.flatnonzero(np.abs(duals) > 10 * _STEP):
        move = np.zeros(len(duals))
        move[i] = _STEP
        above, below = bound(duals + move, total, each), bound(duals - move, total, each)
        if abs(above + below - 2.0 * here) < 1e-9 * size:
            smooth += 1
            assert (above - below) / (2.0 * _STEP) == pytest.approx(slope[i], abs=1e-3 * size)
    return smooth


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha", [None, 0.0], ids=["smoothed", "at the master's"])
@pytest.mark.parametrize("name", ["packing", "widths", "triplets", "assignment", "colouring", "partition", "pools"])
def test_subgradients_are_the_slopes_of_the_bound(name, seed, alpha):
    if name in ("packing", "widths", "triplets"):
        instance = {"packing": bin_packing(9, seed), "widths": uniform(4, seed), "triplets": triplets(3, seed)}[name]
        problem, bound = CuttingStock(instance), of_packing(instance)
    elif name == "assignment":
        instance = assignment(3, 9, seed)
        problem, bound = Unguessed(instance), of_assignment(instance)
    elif name == "colouring":
        problem = Colouring(graph(15, 7 + seed, density=0.3))
        problem.oracle.columns = 1  # so that there are rounds
        bound = of_colouring(problem.oracle)
    else:
        problem = PoolPartition(10, 60, 1 if name == "partition" else 3, seed)
        bound = of_partition(problem)
    points = seen(problem, stabilization=Directional(alpha))
    assert len(points) > 1
    smooth = sum(is_tangent(bound, *point) for point in points)
    assert smooth or name in ("colouring", "packing", "triplets")  # there the best columns are many everywhere


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_were_given_count_as_the_oracles(seed):
    """What the master uses of columns that nobody has found, its bound has the oracle's best for."""
    instance = bin_packing(9, seed)
    problem = CuttingStock(instance)
    answers = problem.warm_start(Budget()).answers
    points = seen(problem, WarmStart(None, answers))
    assert points
    for point in points:
        is_tangent(of_packing(instance), *point)


class Bounded(Problem):
    """Two rows, the second with two sides, and a variable that each may lean on, at a cost and up to a bound."""

    def __init__(self, columns):
        self.columns = columns

    def master(self):
        m = pyo.ConcreteModel()
        m.unmet = artificial(range(2))
        m.help = pyo.Var(bounds=(0.0, 0.75))
        m.row = pyo.Constraint(expr=m.unmet[0] + m.help == 2)
        m.wide = pyo.Constraint(expr=(1.0, m.unmet[1] - m.help, 3.0))
        m.cost = pyo.Objective(expr=2.0 * m.help)
        return m

    def pricing(self):
        return [Pool(self.columns, multiplicity=4.0)]


@pytest.mark.parametrize("duals", [(1.5, 0.5), (5.0, -0.5), (2.5, -1.0), (3.0, 0.25), (0.5, -2.0)])
def test_own_columns_are_at_their_better_bounds(duals):
    columns = [Column(2.0, {("row", None): 1.0}, "one"), Column(3.0, {("row", None): 1.0, ("wide", None): 1.0}, "two")]
    problem = Bounded(columns)
    master = restricted_master(problem.master())
    master.add(columns, origins=0)
    solved = master.solve()
    assert solved.phase == 2
    total = float(solved.values[master.table.origins == 0].sum())

    def bound(at, total, each):
        first, second = at
        wide = second * (1.0 if second > 0.0 else 3.0)
        best = min(2.0 - first, 3.0 - first - second)
        return 2.0 * first + wide + min(0.0, 0.75 * (2.0 - first + second)) + total * min(0.0, best)

    point = np.array(duals)
    least = int(np.argmin([2.0 - duals[0], 3.0 - duals[0] - duals[1]]))
    answers = (
        [([columns[least]], None)] if min(2.0 - duals[0], 3.0 - duals[0] - duals[1]) < 0.0 else [((), np.empty(0))]
    )
    slope = master.rows.subgradient(solved, answers, solved.duals.replace(point))
    assert is_tangent(bound, point, slope, total, [total]) == 2
