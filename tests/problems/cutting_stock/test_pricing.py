import dataclasses
import math

import numpy as np
import pytest

from colgen import Columns, PricingContext
from colgen.branching.rules import Bound
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.layout import PatternArcsForbidden, PatternLayout
from colgen.problems.cutting_stock.pricing import ARC, PatternOracle
from tests.sweeps import seeds
from tests.twins.cutting_stock import patterns, tiny


def priced(seed, columns=30):
    """An oracle at random duals of a random node, and the reduced costs of all patterns that the node allows."""
    rng = np.random.default_rng(seed)
    instance = tiny(rng)
    problem = CuttingStock(instance)
    layout = problem.model.layout
    oracle = PatternOracle(layout, columns=columns)
    every = [oracle.encode(pattern) for pattern in patterns(instance)]
    arcs = sorted({arc for column in every for arc in layout.arcs(column)})
    decisions = []
    for arc in (arcs[k] for k in rng.choice(len(arcs), min(3, len(arcs)), replace=False)):
        lower, upper = [(-math.inf, 0.0), (-math.inf, 1.0), (1.0, math.inf)][int(rng.integers(3))]
        decisions.append(Bound((ARC, arc), lower, upper, lambda c, arc=arc: layout.arcs(c).get(arc, 0.0)))
    if seed % 3 == 0:
        mask = rng.random(layout.network.num_arcs) < 0.8
        decisions.append(PatternArcsForbidden(layout, mask))
    master = restricted_master(problem.master())
    master.node.apply(decisions)
    master.add(every)
    names = master.solve().duals
    values = rng.uniform(0, 0.7, len(names.values))
    for k, key in enumerate(names.keys):
        if key[0] == ARC:
            values[k] = rng.normal(0, 0.4)
    duals = names.replace(values)
    context = PricingContext(master.sense, decisions=tuple(decisions), cost_weight=float(seed % 2), price=master.price)
    master.objective.phase = 2 if seed % 2 else 1
    allowed = [column for column in every if context.allows(column)]
    return oracle, duals, context, allowed, master.price(allowed, duals)


@pytest.mark.parametrize("seed", seeds(60))
def test_bound_is_exact_at_every_node(seed):
    oracle, duals, context, allowed, reduced_costs = priced(seed)
    result = oracle.price(duals, context)
    assert isinstance(result.columns, Columns)
    assert context.reduced_costs(result.columns, duals) == pytest.approx(result.reduced_costs)
    assert result.bound == pytest.approx(min([*reduced_costs, context.cost_weight]))
    known = dict(zip((column.identity for column in allowed), reduced_costs, strict=True))
    assert len({column.identity for column in result.columns}) == len(result.columns)
    for column, stated in zip(result.columns, result.reduced_costs or (), strict=True):
        assert known[column.identity] == pytest.approx(stated)  # so it is allowed
    if min(reduced_costs, default=0.0) < -1e-9:
        assert result.reduced_costs[0] == pytest.approx(min(reduced_costs))


@pytest.mark.parametrize("seed", range(10))
def test_number_of_columns_is_limited(seed):
    oracle, duals, context, _, _ = priced(seed, columns=1)
    assert len(oracle.price(duals, context).columns) <= 1


@pytest.mark.parametrize("seed", range(20))
def test_patterns_of_a_dive_fit_the_remaining_demands(seed):
    oracle, duals, context, allowed, _ = priced(seed)
    if not allowed:
        return
    layout = oracle.layout
    fixed = allowed[seed % len(allowed)]
    result = oracle.price(duals, dataclasses.replace(context, fixed=((fixed, 1.0),)))
    context.reduced_costs(result.columns, duals)  # the master sees them
    assert result.bound is None
    cut = dict(fixed.structure[1])
    for column in result.columns:
        assert context.allows(column)
        for item, copies in column.structure[1]:
            left = int(layout.demands[layout.rank_of_item[item]]) - cut.get(item, 0)
            assert copies <= max(left, 0)


def test_worthless_duals_give_no_improving_column():
    problem = CuttingStock(CuttingStockInstance(10, (6, 4), (1, 1)))
    master = restricted_master(problem.master())
    duals = master.solve().duals
    result = problem.model.oracles[0].price(duals.replace(np.zeros(2)), PricingContext(master.sense))
    assert list(result.reduced_costs) == [1.0]
    assert result.bound == 1.0


def test_layout_puts_wide_items_first():
    layout = PatternLayout(CuttingStockInstance(20, (3, 7, 5), (2, 2, 2)))
    column = PatternOracle(layout).encode(((0, 2), (1, 1), (2, 1)))
    assert list(layout.arcs(column)) == [(0, 0), (1, 7), (2, 12), (2, 15)]
    assert layout.pattern(np.array([1, 0, 2])) == ((1, 1), (0, 2))


@pytest.mark.parametrize("seed", range(12))
def test_decisions_treat_batches_like_columns(seed):
    oracle, duals, context, _, _ = priced(seed)
    result = oracle.price(duals, dataclasses.replace(context, decisions=()))
    context.reduced_costs(result.columns, duals)  # the master sees them
    for decision in context.decisions:
        assert decision.allows_each(result.columns).tolist() == [decision.allows(c) for c in result.columns]
