"""Arcs that a learner keeps for a first search: the bound never depends on it, and bad answers are refused."""

import math

import numpy as np
import pytest

from colgen import InputError, Labelling, PricingContext, Sense, decompose, solve
from colgen.branching.rules import Bound
from colgen.core.duals import Duals, RowNames
from colgen.pricing.arcs import ARC_FEATURES, keep_arcs
from colgen.problems.cutting_stock import CuttingStock, bin_packing
from colgen.problems.vehicle_routing import VehicleRouting, random
from colgen.reporting.methods import replace_parts
from colgen.solvers.paths import labelling
from tests.networks.programs import routing
from tests.pricing.scripted import Scripted


def random_answers(seed):
    rng = np.random.default_rng(seed)
    return lambda offered: rng.random(len(offered.tails)) < 0.3


def cheapest(offered):
    return offered.values[:, ARC_FEATURES.index("reduced_rank_out")] < 0.4


ADVERSARIES = {
    "random": random_answers(0),
    "none": lambda offered: [False] * len(offered.tails),
    "all": lambda offered: np.ones(len(offered.tails), dtype=bool),
    "one": lambda offered: np.arange(len(offered.tails)) == 0,
    "the cheapest": cheapest,
    "the dearest": lambda offered: ~cheapest(offered),
    "a read-only mask": lambda offered: np.broadcast_to(np.False_, len(offered.tails)),
}
PROBLEMS = {
    "windows": lambda: VehicleRouting(random(2, customers=9)),
    "capacities": lambda: VehicleRouting(random(3, customers=10, windows=False, convention="whole")),
    "path blocks": lambda: decompose(routing(1)[0]),
}


@pytest.mark.parametrize("make", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("answer", ADVERSARIES.values(), ids=ADVERSARIES)
def test_no_selector_changes_an_optimum_or_the_bound_of_the_root(answer, make):
    expected = [solve(make(), relaxation=True).dual_bound, solve(make()).objective]
    other = replace_parts(pricing=lambda oracles: keep_arcs(oracles, Scripted(answer)))
    results = [solve(other(make()), relaxation=True), solve(other(make()))]
    assert [results[0].dual_bound, results[1].objective] == pytest.approx(expected, abs=1e-6)
    assert all(result.is_optimal for result in results)


def star():
    """Return an oracle of three customers with costs of arcs 1, 2, ..., and dual values."""
    network = labelling.Network.complete(3)
    load = labelling.Resource(np.ones(network.num_arcs), 2.0, name="load")
    solver = labelling.Labelling(network, [load])
    oracle = Labelling(solver, 1.0 + np.arange(network.num_arcs), {i: ("visit", i) for i in (1, 2, 3)})
    names = RowNames()
    names.extend([("visit", i) for i in (1, 2, 3)])
    return oracle, Duals(np.array([10.0, 20.0, 30.0]), names)


def price(columns, duals):
    """Return reduced costs as a master does, which gives the rows of a batch their names."""
    columns.over(duals.names.keys, duals.names.position)
    return columns.costs - columns.products(duals.values)


def test_only_kept_arcs_are_searched_until_they_have_no_new_improving_column():
    oracle, duals = star()
    network = oracle.solver.network
    ends = list(zip(network.tails.tolist(), network.heads.tolist(), strict=True))
    alone = np.isin(np.arange(len(ends)), [ends.index((network.source, 1)), ends.index((1, network.sink))])
    (narrow,) = keep_arcs(oracle, Scripted(lambda offered: alone))
    context = PricingContext(Sense.MINIMIZE, price=price)
    first = narrow.price(duals, context)
    cost = float(oracle.costs[alone].sum())
    assert [(column.cost, column.coefficients) for column in first.columns] == [(cost, {("visit", 1): 1.0})]
    assert first.bound is None
    held = context.replace(find=lambda some: np.array([0 if column.cost == cost else -1 for column in some]))
    usual, same = oracle.price(duals, held), narrow.price(duals, held)
    assert (usual.bound, usual.columns.costs.tolist()) == (same.bound, same.columns.costs.tolist())
    assert len(usual.columns) > 1
    quick = narrow.price(duals, context.replace(quick=True))
    assert [column.cost for column in quick.columns] == [cost]
    forbidden = context.replace(decisions=(Bound(("arc", (network.source, 1)), 0.0, 0.0, lambda column: 0.0),))
    usual, same = oracle.price(duals, forbidden), narrow.price(duals, forbidden)
    assert [column.structure for column in usual.columns] == [column.structure for column in same.columns]
    assert all(column.structure[1] != 1 for column in same.columns)


def test_features_by_hand():
    oracle, duals = star()
    selector = Scripted(lambda offered: np.zeros(len(offered.tails), dtype=bool))
    (narrow,) = keep_arcs(oracle, selector)
    narrow.price(duals, PricingContext(Sense.MINIMIZE))
    (seen,) = selector.seen
    gains = np.array([0.0, 10.0, 20.0, 30.0, 0.0])[: oracle.solver.network.num_vertices]
    for arc, (tail, head) in enumerate(zip(seen.tails, seen.heads, strict=True)):
        cost, reduced = 1.0 + arc, 1.0 + arc - gains[head]
        expected = [cost, reduced]
        for values in (1.0 + np.arange(len(seen.tails)), 1.0 + np.arange(len(seen.tails)) - gains[seen.heads]):
            for mine in (seen.tails == tail, seen.heads == head):
                expected.append(((values[mine] < values[arc]).sum()) / mine.sum())
        assert seen.values[arc] == pytest.approx(np.array(expected))
    narrow.price(duals.replace(np.array([1e290, -1e290, 0.0])), PricingContext(Sense.MINIMIZE))
    assert np.isfinite(selector.seen[1].values).all()


@pytest.mark.parametrize("answer", [None, True, [True], [0.2, math.nan], ["yes"] * 12, np.ones((12, 1), dtype=bool)])
def test_bad_answers_are_refused(answer):
    oracle, duals = star()
    (narrow,) = keep_arcs(oracle, Scripted(lambda offered: answer))
    with pytest.raises(InputError, match="12 truth values, one per arc"):
        narrow.price(duals, PricingContext(Sense.MINIMIZE))


@pytest.mark.parametrize("selector", [None, Scripted, lambda offered: True])
def test_a_selector_needs_its_method(selector):
    with pytest.raises(InputError, match="keep"):
        keep_arcs(star()[0], selector)


def test_only_path_oracles_have_arcs():
    problem = CuttingStock(bin_packing(5, 2))
    with pytest.raises(InputError, match="expected path oracles"):
        keep_arcs(problem.pricing(), Scripted(cheapest))
