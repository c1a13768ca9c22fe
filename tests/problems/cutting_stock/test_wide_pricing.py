"""Rolls with too many sums of widths for a network: pricing, branching and exact bounds."""

import math

import numpy as np
import pytest

from colgen import PricingContext, solve
from colgen.branching.rules import Bound
from colgen.master.statement import restricted_master
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance, layout
from colgen.problems.cutting_stock.bound import exact_bound, verify
from colgen.problems.cutting_stock.instance import Stock
from colgen.problems.cutting_stock.pricing import ARC
from colgen.problems.cutting_stock.wide_pricing import WideRollOracle
from colgen.testing import check_problem
from tests.sweeps import seeds
from tests.twins.cutting_stock import optimum, patterns, tiny


@pytest.fixture
def no_network(monkeypatch):
    """Make every network too large."""
    monkeypatch.setattr(layout, "CELLS", 0)
    monkeypatch.setattr(layout.PatternLayout, "lay_network", _refuse)


def _refuse(self, look=None):
    raise layout.InputError("the instance is too large for its pricing problem")


def widened(instance, factor):
    """The same instance on a roll that is ``factor`` times as wide, with room that no pattern can use."""
    widths = tuple(factor * width for width in instance.widths)
    return CuttingStockInstance(factor * instance.roll + factor - 1, widths, instance.demands)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("factor", [1, 100_003])
@pytest.mark.parametrize("seed", seeds(40))
def test_optimum_against_enumeration(seed, factor):
    instance = tiny(np.random.default_rng(seed))
    wide = widened(instance, factor)
    result = solve(CuttingStock(wide))
    assert result.is_optimal
    assert wide.check(result.answer) == result.objective == optimum(instance)
    if result.certificate is not None:
        assert verify(wide, result.certificate) <= result.objective


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("seed", range(4))
def test_conformance(seed):
    check_problem(CuttingStock(widened(tiny(np.random.default_rng(seed)), 50_021)))


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("seed", range(6))
def test_several_widths(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    widths = tuple(int(w) for w in np.sort(rng.choice(np.arange(20, 70), 4, replace=False))[::-1])
    instance = CuttingStockInstance(
        100, widths, tuple(int(d) for d in rng.integers(1, 4, 4)), stock=Stock((100, 75), (1.0, 0.7), (None, 2))
    )
    result = solve(CuttingStock(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == result.objective
    monkeypatch.undo()
    assert result.objective == pytest.approx(solve(CuttingStock(instance)).objective)


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("seed", seeds(60))
def test_pricing_under_branching_rows(seed):
    """At every node the bound is that of the best allowed pattern, with its payments."""
    rng = np.random.default_rng(seed)
    instance = widened(tiny(rng), 30_011)
    problem = CuttingStock(instance)
    model = problem.model
    (oracle,) = model.oracles
    assert isinstance(oracle, WideRollOracle)
    every = [oracle.encode(pattern) for pattern in patterns(instance)]
    arcs = sorted({arc for column in every for arc in model.layout.arcs(column)})
    decisions = []
    for arc in (arcs[k] for k in rng.choice(len(arcs), min(3, len(arcs)), replace=False)):
        lower, upper = [(-math.inf, 0.0), (-math.inf, 1.0), (1.0, math.inf)][int(rng.integers(3))]
        decisions.append(Bound((ARC, arc), lower, upper, lambda c, arc=arc: model.layout.arcs(c).get(arc, 0.0)))
    master = restricted_master(problem.master())
    master.node.apply(decisions)
    master.add(every)
    names = master.solve().duals
    values = rng.uniform(0, 0.7, len(names.values))
    for k, key in enumerate(names.keys):
        if key[0] == ARC:
            values[k] = rng.normal(0, 0.4)
    duals = names.replace(values)
    master.objective.phase = 2
    context = PricingContext(master.sense, decisions=tuple(decisions), price=master.price)
    allowed = [column for column in every if context.allows(column)]
    reduced_costs = master.price(allowed, duals)
    result = oracle.price(duals, context)
    least = min(reduced_costs, default=math.inf)
    assert result.bound <= min(least, 1.0) + 1e-9
    assert context.reduced_costs(result.columns, duals) == pytest.approx(result.reduced_costs)
    assert all(context.allows(column) for column in result.columns)
    if least < -1e-8:
        assert len(result.columns)
    exact = exact_bound(instance, dict(enumerate(np.asarray(duals["demand"]).tolist())))
    best = max(sum(values[names.keys.index(("demand", i))] * c for i, c in pattern) for pattern in patterns(instance))
    total = sum(values[names.keys.index(("demand", i))] * d for i, d in enumerate(instance.demands))
    assert float(exact) == pytest.approx(total / best)
