"""Bounds of the grandparent oracle at arbitrary dual values, against the complete linear program."""

import numpy as np
import pytest

from colgen import LinearMaster, PricingContext, Sense, solve
from colgen.model.rows import compile_model
from colgen.problems.grandparent_parsing import GrandparentParsing, random
from colgen.problems.grandparent_parsing.model import complete
from tests.sweeps import seeds

TOKENS = 5


def best_of_parts(gains):
    """The maximum total gain of the parts of a relaxed tree."""
    program = compile_model(complete(TOKENS, "all", connectivity="flow"))
    parts = program.column_blocks["u"].indices
    program.change_variables("u", cost=[gains[part] for part in parts])
    return LinearMaster(program).solve().objective


@pytest.mark.parametrize("seed", seeds(20, fast=6))
def test_totals_bound_the_gain_of_parts(seed):
    rng = np.random.default_rng(seed)
    instance = random(TOKENS, seed, strength=1.0)
    problem = GrandparentParsing(instance, siblings=False, start="parts", connectivity="flow")
    solve(problem, relaxation=True)
    (oracle,) = problem.part_oracles
    solved = problem._master.solve()
    context = PricingContext(Sense.MAXIMIZE)
    paid = 0
    for spread in (0.1, 0.5, 2.0):
        values = solved.duals.values + spread * rng.normal(size=len(solved.duals.values))
        values[solved.duals.rows("gp_arc")] *= values[solved.duals.rows("gp_arc")] > 0.0
        duals = solved.duals.replace(values)
        gains = np.full((TOKENS + 1,) * 3, -np.inf)
        every = np.argwhere(np.ones_like(gains, dtype=bool))
        g, p, c = every[(every[:, 1] > 0) & (every[:, 2] > 0) & (np.diff(every, axis=1) != 0).all(1)].T
        g, p, c = (side[g != c] for side in (g, p, c))
        price, own = oracle.matrix(duals, "one_gp"), oracle.own_row_prices(duals)
        gains[g, p, c] = oracle.scores.grandparents(np.stack([g, p, c], axis=1)) - price[p, c] - own[g, p, c]
        result = oracle.price(duals, context)
        assert result.total >= best_of_parts(gains) - 1e-7
        assert result.bound == pytest.approx(max(gains.max(), 0.0))
        paid += (gains > 1e-9).sum() - len(result.columns)
    assert paid > 0


def test_arcs_that_pay_save_columns():
    taken, objectives = {}, {}
    for pays in (True, False):
        taken[pays], objectives[pays] = 0, []
        for seed in range(8):
            problem = GrandparentParsing(random(9, seed, strength=0.5), siblings=False, start="tree")
            problem.part_oracles[0].charges = pays
            result = solve(problem, relaxation=True)
            taken[pays] += result.columns_generated
            objectives[pays].append(result.objective)
    assert objectives[True] == pytest.approx(objectives[False])
    assert taken[True] < 0.7 * taken[False]
