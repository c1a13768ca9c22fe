"""Enumeration lists every pattern of every better plan, and closes nodes correctly."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

from benchmarks.cutting_stock.bench import NON_IRUP
from colgen import Sense, Solution, solve
from colgen.branching.rules import Bound
from colgen.fixing import ReductionContext
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.generators import critical
from colgen.problems.cutting_stock.patterns import PatternEnumeration
from colgen.problems.cutting_stock.pricing import ARC
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum, plans, tiny


def context_of(problem, target):
    root = solve(problem, relaxation=True)
    duals = restricted_master(problem.master()).solve().duals
    duals = duals.replace(np.array([root.certificate.duals[key] for key in duals.keys]))
    return ReductionContext(Sense.MINIMIZE, duals, root.certificate.bound, target, ())


@pytest.mark.parametrize("seed", seeds(40))
def test_every_pattern_of_a_plan_of_interest_is_listed(seed):
    instance = tiny(np.random.default_rng(seed), items=3, roll=12, demand=2)
    problem = CuttingStock(instance)
    best = optimum(instance)
    if best > 5:
        return
    found = problem.method().enumeration.enumerate(context_of(problem, float(best)))
    if found is None:  # the duals are so slack that the empty pattern would be listed
        return
    listed = {frozenset(column.structure[1]) for column in found.columns}
    kept = {item for (_, item), (low, _) in found.sides.items() if np.isfinite(low)}
    for plan in plans(instance, best):
        cut = Counter()
        for pattern in plan:
            cut.update(dict(pattern))
        if all(cut[item] == demand for item, demand in enumerate(instance.demands)):
            for pattern in plan:
                core = frozenset((item, n) for item, n in pattern if item in kept)
                assert not core or core in listed


def test_items_with_a_branching_row_are_not_left_out():
    # The narrow item fits everywhere and earns nothing, but a row demands one of its pieces at position 6.
    problem = CuttingStock(CuttingStockInstance(10, (6, 2), (2, 2)))
    rank = 1
    duals = restricted_master(problem.master()).solve().duals
    free = ReductionContext(Sense.MINIMIZE, duals.replace(np.array([1.0, 0.0])), 2.0, 2.0, ())
    demanded = Bound(
        (ARC, (rank, 6)), 1.0, np.inf, lambda column: problem.model.layout.arcs(column).get((rank, 6), 0.0)
    )
    bounded = dataclasses.replace(free, decisions=(demanded,))

    def kept(context):
        sides = problem.method().enumeration.enumerate(context).sides
        return {item for (_, item), (low, _) in sides.items() if np.isfinite(low)}

    assert kept(free) == {0}
    assert kept(bounded) == {0, 1}


def test_too_many_patterns_are_refused():
    problem = CuttingStock(tiny(np.random.default_rng(3)))
    context = context_of(problem, float(optimum(problem.instance)))
    assert PatternEnumeration(problem.model, limit=0).enumerate(context) is None


def test_items_left_out_are_put_where_they_fit():
    problem = CuttingStock(tiny(np.random.default_rng(5)))
    instance = problem.instance
    completed = problem.method().enumeration.complete(Solution(0.0))
    assert instance.check(problem.answer(completed)) == completed.objective


def test_optimum_above_the_rounded_relaxation_is_proved_without_branching():
    seed, width, expected = NON_IRUP[3]
    result = solve(CuttingStock(critical(seed, width)))
    assert result.is_optimal
    assert result.objective == expected
    assert result.root_bound <= expected - 1 + 1e-6
    assert [node.outcome for node in result.nodes] == ["enumerated"]
