import dataclasses
import itertools
import math
import re
from collections import Counter

import numpy as np
import pytest

from colgen import Column, Columns, Sense, Solution, WarmStart, solve
from colgen.core.decision import admits
from colgen.fixing import ReductionContext
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, bin_packing
from colgen.problems.cutting_stock.branching import OnArcFlow, PatternArcFixing
from colgen.problems.cutting_stock.layout import PatternArcsForbidden
from tests.sweeps import seeds
from tests.twins.cutting_stock import NON_IRUP, optimum, plans, tiny


class Bare(CuttingStock):
    """The tree alone: no first plan, heuristic, fixing or enumeration."""

    def warm_start(self, budget):
        return WarmStart()

    def method(self):
        return dataclasses.replace(super().method(), heuristics=(), reductions=(), enumeration=())


class Fixing(Bare):
    """The tree and the fixing of arcs, which needs an incumbent."""

    def warm_start(self, budget):
        return CuttingStock.warm_start(self, budget)

    def method(self):
        fixing = PatternArcFixing(self.model.layout, self.model.oracles, share=0.0)
        return dataclasses.replace(super().method(), reductions=(fixing,))


KINDS = [CuttingStock, Bare, Fixing]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(25))
def test_optimum_is_that_of_enumeration(seed, kind):
    instance = tiny(np.random.default_rng(seed))
    result = solve(kind(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == result.objective == optimum(instance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("instance", "expected"), NON_IRUP)
def test_tree_is_complete_where_rounding_up_is_not_enough(instance, expected, kind):
    result = solve(kind(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == expected
    assert math.ceil(result.root_bound - 1e-6) == expected - 1
    if kind is Bare:
        assert len(result.nodes) > 1


@pytest.mark.parametrize("kind", [Bare, Fixing])
@pytest.mark.parametrize("seed", range(4))
def test_bin_packing_with_the_tree_alone(seed, kind):
    instance = bin_packing(25, seed, roll=100, widths=(10, 60))
    expected = solve(CuttingStock(instance))
    result = solve(kind(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == expected.objective


# --- integer flows ---------------------------------------------------------------------------------------------------


def test_integer_flows_decompose_into_integer_patterns():
    problem = CuttingStock(CuttingStockInstance(10, (5, 5, 3, 3), (1, 1, 1, 1)))
    halves = [((first, 1), (second, 1)) for first, second in itertools.product((0, 1), (2, 3))]
    solution = Solution(2.0, tuple((problem.model.oracles[0].encode(pattern), 0.5) for pattern in halves))
    rule = OnArcFlow(problem.model.layout, problem.model.oracles)

    assert rule.branch(solution) == []  # every flow is whole, though no column is
    recovered = rule.recover(solution)
    assert recovered.objective == 2.0
    assert all(value == 1.0 for _, value in recovered.columns)
    assert problem.instance.check(problem.answer(recovered)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_recovered_patterns_cut_the_same_pieces(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng)
    problem = CuttingStock(instance)
    answer, oracle = Counter(dict(solve(problem).answer)), problem.model.oracles[0]
    solution = Solution(float(answer.total()), tuple((oracle.encode(p), float(n)) for p, n in answer.items()))
    rule = problem.branching()[0]
    recovered = rule.recover(solution)
    # The arcs may differ: a flow can decompose in several ways.
    assert pieces(problem.answer(recovered)) == pieces(answer.items())
    assert instance.check(problem.answer(recovered)) == answer.total()


def pieces(answer):
    cut = Counter()
    for pattern, rolls in answer:
        for item, copies in pattern:
            cut[item] += copies * rolls
    return cut


# --- children --------------------------------------------------------------------------------------------------------


def exactly(instance, plan):
    """Return whether a plan cuts every item exactly as often as demanded."""
    cut = Counter()
    for pattern in plan:
        cut.update(dict(pattern))
    return all(cut[item] == demand for item, demand in enumerate(instance.demands))


@pytest.mark.parametrize("seed", seeds(40))
def test_children_cut_the_relaxation_off_and_keep_an_optimal_plan(seed):
    instance = tiny(np.random.default_rng(seed), items=3, roll=12, demand=2)
    problem = Bare(instance)
    relaxation = solve(problem, relaxation=True).solution
    rule = problem.branching()[0]
    children = rule.branch(relaxation)
    if not children:
        return
    assert not any(admits(child, relaxation) for child in children)
    best = [plan for plan in plans(instance, optimum(instance)) if exactly(instance, plan)]
    for plan in best:
        columns = tuple((problem.model.oracles[0].encode(pattern), float(n)) for pattern, n in Counter(plan).items())
        assert any(admits(child, Solution(float(len(plan)), columns)) for child in children)


def test_an_item_of_demand_one_is_assigned_to_one_half_of_its_positions():
    instance = CuttingStockInstance(20, (9, 7, 6, 5, 3), (1, 1, 1, 1, 1))
    problem = CuttingStock(instance)
    before = (((0, 1), (4, 1)), ((1, 1), (4, 1)), ((2, 1), (4, 1)), ((3, 1), (4, 1)))  # item 4 at 9, 7, 6, 5
    solution = Solution(1.0, tuple((problem.model.oracles[0].encode(pattern), 0.25) for pattern in before))
    (left,), (right,) = OnArcFlow(problem.model.layout, problem.model.oracles).branch(solution)
    layout = problem.model.layout
    rank = layout.rank_of_item[4]
    open_at = [{p for p in (5, 6, 7, 9) if child.open_arcs[layout.network.arc(rank, p)]} for child in (left, right)]
    assert sorted(map(sorted, open_at)) == [[5, 6], [7, 9]]
    assert not (~left.open_arcs & ~right.open_arcs).any()
    others = problem.model.layout.network.items != rank
    assert (left.open_arcs & right.open_arcs)[others].all()


@pytest.mark.parametrize("seed", range(5))
def test_decisions_allow_the_same_columns_in_batches_and_alone(seed):
    rng = np.random.default_rng(seed)
    problem = CuttingStock(tiny(rng, items=4, roll=20))
    layout = problem.model.layout
    packings = rng.integers(0, 3, (30, len(layout.widths)))
    packings[:, 0] += packings.sum(axis=1) == 0
    columns = problem.model.oracles[0].batch(packings, restricted_master(problem.master()).solve().duals)
    patterns = layout.patterns(packings)
    decision = PatternArcsForbidden(layout, rng.random(layout.network.num_arcs) < 0.8)
    assert decision.allows_each(columns).tolist() == [
        decision.allows(problem.model.oracles[0].encode(pattern)) for _, pattern in patterns
    ]
    assert decision.allows_each(columns.take(np.zeros(0, dtype=np.int64))).tolist() == []


# --- fixing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(40))
def test_fixing_keeps_every_better_answer(seed):
    rng = np.random.default_rng(seed)
    instance = tiny(rng, items=3, roll=12, demand=2)
    problem = CuttingStock(instance)
    root = solve(problem, relaxation=True)
    best = optimum(instance)
    if best > 5:
        return
    # The incumbent is one roll worse than the optimum, so every optimal plan must be kept, also with overproduction.
    duals = restricted_master(problem.master()).solve().duals
    duals = duals.replace(np.array([root.certificate.duals[key] for key in duals.keys]))
    context = ReductionContext(Sense.MINIMIZE, duals, root.certificate.bound, float(best), ())
    fixing = PatternArcFixing(problem.model.layout, problem.model.oracles, share=0.0)
    decisions = fixing.reduce(context)
    for plan in plans(instance, best):
        for pattern in plan:
            column = problem.model.oracles[0].encode(pattern)
            assert all(decision.allows(column) for decision in decisions)
    for decision in decisions:
        assert not decision.exhaustive
        assert re.fullmatch(r"\d+ arcs? forbidden", str(decision))


@pytest.mark.parametrize("seed", range(5))
def test_arc_numbers_of_a_batch_equal_those_of_each_pattern(seed):
    rng = np.random.default_rng(seed)
    layout = CuttingStock(tiny(rng)).model.layout
    items = len(layout.widths)
    patterns = [
        tuple((int(i), int(rng.integers(1, 4))) for i in rng.permutation(items)[: rng.integers(0, items + 1)])
        for _ in range(30)
    ]
    numbers, starts = layout.numbers_each(Columns.of([Column(1.0, {}, (0, pattern)) for pattern in patterns]))
    for pattern, (start, end) in zip(patterns, itertools.pairwise(starts), strict=True):
        assert numbers[start:end].tolist() == [layout.network.arc(*arc) for arc in layout.arcs_of(pattern)]
