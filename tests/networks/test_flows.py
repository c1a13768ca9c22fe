"""Pricing of commodities, and capacities that are separated."""

import numpy as np
import pytest

from colgen import PricingContext, Sense, Solution, solve
from colgen.master.statement import restricted_master
from colgen.networks.flow_branching import CommodityArcsForbidden
from colgen.networks.flows import CAPACITY, DEMAND, LIMIT, Capacities
from colgen.testing import check_problem
from tests.networks.flow_programs import network


def test_a_problem_with_commodities_conforms():
    for seed in range(4):
        assert check_problem(network(seed, own=seed % 2 == 1).problem()).findings == ()


def test_an_unsplittable_problem_conforms():
    made = network(3)
    made.unsplittable = True
    assert check_problem(made.problem()).findings == ()


def test_a_commodity_whose_arcs_are_forbidden_has_no_columns():
    made = network(0, commodities=4)
    made.unsplittable = True
    problem = made.problem()
    (oracle,), block = problem.oracles, problem.blocks[0]
    master = restricted_master(problem.master())
    duals = master.rows.guess({DEMAND: np.full(block.num_groups, 100.0)})
    out = frozenset(np.flatnonzero(block.graph.tails == block.origins[0]).tolist())
    before = oracle.price(duals, PricingContext(Sense.MINIMIZE))
    after = oracle.price(duals, PricingContext(Sense.MINIMIZE, decisions=(CommodityArcsForbidden(0, 0, out),)))
    assert len(before.columns) == block.num_groups
    assert len(after.columns) == block.num_groups - 1
    assert after.total == pytest.approx(before.total - before.reduced_costs[0])
    assert len(after.attained()[0]) == block.num_groups - 1


def test_violated_capacities_and_limits_are_found():
    made = network(0, commodities=4, own=True)
    made.limits[:] = np.inf
    problem = made.problem()
    columns = solve(problem).solution.columns
    block = problem.blocks[0]
    arc = int(columns[0][0].structure.arcs[0])
    k = int(block.group_of[columns[0][0].structure.group])
    block.upper = block.upper.copy()
    block.upper[arc] = 0.5 * columns[0][1] * columns[0][0].structure.amounts[0]
    block.limits = block.limits.copy()
    block.limits[k, arc] = block.upper[arc]
    block.limited[k] = k
    found = Capacities([block]).separate(Solution(0.0, columns), None)
    assert (CAPACITY, (0, arc)) in {row.key for row in found}
    assert (LIMIT, (0, k, arc)) in {row.key for row in found}
    for row in found:
        assert sum(row.family.coefficients([c], [row.key[1]])[0, 0] * value for c, value in columns) > row.upper
