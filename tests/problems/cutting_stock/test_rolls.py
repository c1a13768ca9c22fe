from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cutting_stock.orders import several_bins, several_lengths
from colgen import InputError, Method, PricingContext, Solution, TimeLimit, solve
from colgen.certificate.certifier import Certifier
from colgen.master.statement import restricted_master
from colgen.problem import digest_of_problem
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, Stock
from colgen.problems.cutting_stock.bound import verify
from colgen.problems.cutting_stock.dual_feasible import material_duals
from colgen.problems.cutting_stock.plans import cost, fill_greedily, move_to_cheapest
from colgen.problems.cutting_stock.rolls import assign
from tests.sweeps import seeds
from tests.twins.orders import cheapest, fitting


def drawn(seed):
    rng = np.random.default_rng(seed)
    roll, n = int(rng.integers(5, 20)), int(rng.integers(1, 4))
    others = rng.integers(1, roll + 1, int(rng.integers(0, 3))).tolist()
    supplies = tuple(None if rng.random() < 0.6 else int(rng.integers(0, 4)) for _ in [roll, *others])
    scale = float(rng.choice([1.0, 0.1, 1e-8, 1e8]))
    costs = tuple((scale * rng.integers(0, 7, len(others) + 1)).tolist())
    widths = tuple(rng.integers(1 + roll // 6, roll + 1, n).tolist())
    demands = tuple(rng.integers(1, 5, n).tolist())
    return CuttingStockInstance(roll, widths, demands, stock=Stock((roll, *others), costs, supplies))


@pytest.mark.parametrize("seed", seeds(60, 20))
def test_each_oracle_is_exact(seed):
    order = drawn(seed)
    problem, rng = CuttingStock(order), np.random.default_rng(seed)
    master = restricted_master(problem.master())
    values = master.solve().duals
    duals = values.replace(rng.uniform(0.0, 1.0, len(values.values)) * max(problem.model.stock.costs))
    for oracle in problem.pricing():
        kind = oracle.kind
        charge = kind.cost - (duals["supply", kind.number] if kind.limited else 0.0)
        priced = oracle.price(duals, PricingContext(master.sense))
        worth = [charge - np.dot(pattern, duals["demand"]) for pattern in fitting(order, kind.width)]
        assert priced.bound == pytest.approx(min(worth, default=np.inf))


@pytest.mark.parametrize("seed", seeds(60, 20))
def test_without_help_the_tree_proves_the_optimum(seed):
    order = drawn(seed)
    problem = CuttingStock(order)
    result, best = solve(problem, method=Method(heuristics=(), enumeration=()), stop=TimeLimit(60)), cheapest(order)
    if best is None:
        assert result.termination.name == "INFEASIBLE"
        return
    assert result.is_optimal
    assert result.objective == pytest.approx(best, rel=1e-9)
    assert order.check(result.answer) == pytest.approx(best, rel=1e-9)
    assert result.dual_bound <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", seeds(40))
def test_greedy_plans_are_feasible_and_respect_the_material_bound(seed):
    order = drawn(seed)
    stock = order.stock
    plan = fill_greedily(order.widths, order.demands, stock)
    best = cheapest(order)
    if plan is not None:
        before = order.check(plan)
        assert before == cost(plan, stock)
        moved = move_to_cheapest(order.widths, plan, stock)
        assert order.check(moved) <= before
        assert before >= best
    if best is not None:
        items, supplies = material_duals(order, stock)
        bound = sum(dual * d for dual, d in zip(items, order.demands, strict=True))
        bound += sum(supplies[k] * s for k, s in enumerate(stock.limits) if np.isfinite(s))
        assert bound <= best * (1.0 + 1e-12) + 1e-12
        for k, (width, price) in enumerate(zip(stock.widths, stock.costs, strict=True)):
            paid = supplies.get(k, 0.0)
            for pattern in fitting(order, width):
                earned = sum(items[i] * copies for i, copies in enumerate(pattern))
                assert price - paid - earned >= -1e-9 * max(price, abs(paid))


def test_patterns_are_assigned_to_the_used_rolls():
    stock = Stock((10, 8, 5), (3.0, 2.0, 1.0))
    problem = CuttingStock(CuttingStockInstance(10, (5, 4), (4, 4), stock=stock)).model
    wide, narrow = ((0, 1), (1, 1)), ((0, 1),)
    used = Solution(0.0, tuple((problem.oracles[k].encode(narrow), n) for k, n in ((0, 0.5), (0, 0.5), (2, 2.0))))
    assert assign(stock.widths, [(9, wide, 1), (5, narrow, 2)], used) == [(wide, 1, 0), (narrow, 2, 2)]
    assert assign(stock.widths, [(9, wide, 2), (5, narrow, 1)], used) is None
    half = Solution(0.0, ((problem.oracles[0].encode(narrow), 0.5),))
    assert assign(stock.widths, [(5, narrow, 1)], half) is None


@pytest.mark.parametrize("order", [several_bins(60, 1), several_bins(40, 2, concave=True), several_lengths(12, 1)])
def test_published_kinds_are_proved(order):
    result = solve(CuttingStock(order), stop=TimeLimit(120))
    assert result.is_optimal
    assert order.check(result.answer) == result.objective


def test_stored_structures():
    problem = CuttingStock(CuttingStockInstance(10, (6, 4), (3, 2), stock=Stock((10, 8, 6), (3.0, 3.0, 1.0))))
    assert problem.model.kinds == (0, 2)
    column = problem.codec().read((2, ((0, 1),)))
    assert (column.cost, column.structure) == (1.0, (1, ((0, 1),)))
    assert problem.codec().read(problem.codec().write(column.structure)) == column
    assert problem.codec().read((1, ((0, 1),))) is None
    assert problem.codec().read((2, ((0, 1), (1, 1)))) is None
    assert problem.codec().read((0, ())) is None


def test_a_checkpoint_of_another_stock_is_refused():
    instance = CuttingStockInstance(10, (6, 4), (3, 2))
    digests = {
        digest_of_problem(CuttingStock(instance)),
        digest_of_problem(CuttingStock(replace(instance, stock=Stock((10, 6), (3.0, 1.0))))),
        digest_of_problem(CuttingStock(replace(instance, stock=Stock((10, 6), (3.0, 1.5))))),
    }
    assert len(digests) == 3


@pytest.mark.parametrize(("seed", "supplies"), [(1, True), (0, False)])
def test_a_node_that_the_simplex_method_cannot_decide_does_not_end_the_run(seed, supplies):
    """The allowed rolls hold the material up to 1e-6; HiGHS found such a program neither feasible nor infeasible."""
    order = several_lengths(100, seed, supplies=supplies)
    result = solve(CuttingStock(order), stop=TimeLimit(10))
    assert order.check(result.answer) == result.objective
    assert result.dual_bound <= result.objective


def test_one_useful_kind_is_solved_as_rolls_of_one_width():
    instance = CuttingStockInstance(10, (6, 4), (3, 2), stock=Stock((10, 8, 6), (1.0, 1.0, 2.0)))
    problem = CuttingStock(instance)
    assert problem.model.plain
    assert len(problem.branching()) == 1
    assert problem.method().rounding is not None
    result = solve(problem)
    assert result.is_optimal
    assert instance.check(result.answer) == result.objective == 3
    assert {kind for _, _, kind in result.answer} == {0}
    # The certificate's instance has no stock: nothing is certified exactly.
    assert type(problem.certifier()) is Certifier
    with pytest.raises(InputError, match="has a stock"):
        verify(instance, result.certificate)


def test_a_kind_of_another_cost_is_alone_but_not_plain():
    problem = CuttingStock(CuttingStockInstance(10, (6, 4), (3, 2), stock=Stock((10,), (2.5,))))
    assert not problem.model.plain
    assert problem.objective_step == 2.5
    assert len(problem.branching()) == 1
    assert solve(problem, method=Method(heuristics=(), enumeration=())).objective == 7.5
