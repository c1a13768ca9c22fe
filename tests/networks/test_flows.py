"""Pricing of commodities, and capacities that are separated."""

import numpy as np

from colgen import Solution, solve
from colgen.networks.flows import CAPACITY, LIMIT, Capacities
from colgen.testing import check_problem
from tests.networks.flow_programs import network


def test_a_problem_with_commodities_conforms():
    for seed in range(4):
        assert check_problem(network(seed, own=seed % 2 == 1).problem()).findings == ()


def test_an_unsplittable_problem_conforms():
    made = network(3)
    made.unsplittable = True
    assert check_problem(made.problem()).findings == ()


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
