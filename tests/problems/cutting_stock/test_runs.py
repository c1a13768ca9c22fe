import itertools

import numpy as np
import pytest

from benchmarks.cutting_stock.orders import few_patterns
from colgen import Column, Method, PricingContext, TimeLimit, solve
from colgen.branching.rules import Bound
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.run_pricing import ARC, LONG, lengths
from colgen.problems.cutting_stock.setups import group_items, improve_plans
from tests.sweeps import seeds
from tests.twins.orders import cheapest


def drawn(seed):
    rng = np.random.default_rng(seed)
    roll, n = int(rng.integers(5, 20)), int(rng.integers(1, 4))
    widths = tuple(rng.integers(1 + roll // 6, roll + 1, n).tolist())
    demands = tuple(rng.integers(1, 7, n).tolist())
    return CuttingStockInstance(roll, widths, demands, patterns=int(rng.integers(1, 4)))


def test_overproduction_can_pay():
    # One pattern for both: three rolls of (1, 1), with one superfluous piece of the second item.
    result = solve(CuttingStock(CuttingStockInstance(10, (6, 4), (3, 2), patterns=1)))
    assert result.is_optimal
    assert result.objective == 3
    assert result.answer == [(((0, 1), (1, 1)), 3)]


def test_too_few_patterns_are_infeasible():
    result = solve(CuttingStock(CuttingStockInstance(10, (6, 6), (1, 1), patterns=1)))
    assert result.termination.name == "INFEASIBLE"


@pytest.mark.parametrize("seed", seeds(60, 20))
def test_the_oracle_is_exact(seed):
    """Against all patterns with all numbers of rolls, with and without decisions."""
    instance = drawn(seed)
    problem = CuttingStock(instance)
    rng = np.random.default_rng(seed)
    master = restricted_master(problem.master())
    solved = master.solve()
    duals = solved.duals.replace(rng.uniform(0.0, 1.0, len(solved.duals.values)) * rng.choice([0.2, 1.0]))
    longest = int(rng.integers(1, 8))
    for decisions in ((), (Bound((LONG, longest), -np.inf, 0.0, lambda c: lengths(c).get(longest, 0.0)),)):
        told = PricingContext(master.sense, decisions=decisions)
        priced = problem.model.oracle.price(duals, told)
        best = np.inf
        most = max(instance.demands) if not decisions else min(max(instance.demands), longest - 1)
        for n in range(1, most + 1):
            ranges = [range(instance.roll // w + 1) for w in instance.widths]
            for copies in itertools.product(*ranges):
                if any(copies) and sum(w * c for w, c in zip(instance.widths, copies, strict=True)) <= instance.roll:
                    made = [min(n * c, d) for c, d in zip(copies, instance.demands, strict=True)]
                    best = min(best, n - np.dot(made, duals["demand"]) - duals["setups"])
        assert priced.bound == pytest.approx(best)
        assert all(decision.allows(column) for decision in decisions for column in priced.columns)


@pytest.mark.parametrize("seed", seeds(60, 20))
def test_without_help_the_tree_proves_the_optimum(seed):
    order = drawn(seed)
    problem = CuttingStock(order)
    result, best = (
        solve(problem, method=Method(heuristics=(), enumeration=()), start=None, stop=TimeLimit(60)),
        cheapest(order),
    )
    if best is None:
        assert result.termination.name == "INFEASIBLE"
        return
    assert result.is_optimal
    assert result.objective == best
    assert order.check(result.answer) == best


def test_arcs_that_are_forbidden_are_in_no_column():
    order = drawn(3)
    problem = CuttingStock(order)
    master = restricted_master(problem.master())
    duals = master.solve().duals
    ones = duals.replace(np.ones(len(duals.values)))
    found: list[Column] = list(problem.model.oracle.price(ones, PricingContext(master.sense)).columns)
    arc = problem.model.runs.arcs(found[0].structure)[0]
    closed = Bound((ARC, arc), -np.inf, 0.0, lambda c: problem.model.runs.original(c).get(arc, 0.0))
    again = problem.model.oracle.price(ones, PricingContext(master.sense, decisions=(closed,)))
    assert len(again.columns)
    assert all(arc not in problem.model.runs.arcs(column.structure) for column in again.columns)


@pytest.mark.parametrize("seed", seeds(40, 12))
def test_first_plans_are_feasible(seed):
    order = drawn(seed)
    most = order.patterns
    plans = improve_plans(order, most, 40, lambda: False, seed)
    costs = [order.check(plan) for plan in plans]
    assert costs == sorted(costs, reverse=True)
    best = cheapest(order)
    assert all(cost >= best for cost in costs) if best is not None else not costs
    whole = group_items(order, order.demands, most)
    assert whole is None or order.check(whole) >= costs[-1]


def test_plans_are_not_built_when_the_time_is_over():
    order = few_patterns(10, 7, 0)
    assert len(improve_plans(order, 7, 10**9, lambda: True)) <= 1


def test_stored_structures():
    problem = CuttingStock(CuttingStockInstance(10, (6, 4), (3, 2), patterns=1))
    column = problem.codec().read((3, ((0, 1), (1, 1))))
    assert column.cost == 3.0
    assert column.coefficients == {("demand", 0): 3.0, ("demand", 1): 2.0, ("setups", None): 1.0}
    assert problem.codec().read(problem.codec().write(column.structure)) == column
    assert problem.codec().read((3, ((0, 2),))) is None
    assert problem.codec().read((3, ())) is None
    assert problem.codec().read((0, ((0, 1),))) is None
