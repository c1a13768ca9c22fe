"""Arbitrary siblings against all trees."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import InputError, solve
from problems.grandparent_parsing import Instance, PairParsing, random
from problems.grandparent_parsing.model import full
from tests.problems.grandparent_parsing.trees import all_worths


def of_pairs(pairs, heads):
    tokens = range(1, len(heads) + 1)
    return sum(pairs[heads[s - 1], s, m] for s, m in itertools.combinations(tokens, 2) if heads[s - 1] == heads[m - 1])


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 12))])
@pytest.mark.parametrize("sign", ["mixed", "positive", "negative", "ties"])
def test_the_best_of_all_trees_is_proved(seed, sign):
    rng = np.random.default_rng(seed)
    tokens, scale = 2 + seed % 3, 10.0 ** (seed % 3 * 6 - 6)
    given = random(tokens, seed, siblings=seed % 2 == 0)
    arcs = scale * given.arc_scores
    if seed % 4 == 3:
        arcs[1, 2] = -np.inf
    tables = [None if t is None else scale * t for t in (given.grandparent_scores, given.sibling_scores)]
    instance = Instance(arcs, *tables, single_root=seed % 3 == 1)
    pairs = rng.normal(size=(tokens + 1,) * 3) * scale * (1.0 + seed % 4)
    pairs = {"mixed": pairs, "positive": abs(pairs), "negative": -abs(pairs), "ties": scale * np.sign(pairs)}[sign]
    worths = {heads: worth + of_pairs(pairs, heads) for heads, worth in all_worths(instance).items()}
    best = max(worths.values())
    problem = PairParsing(instance, pairs)
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)
    assert result.dual_bound >= best - 1e-6 * scale
    assert worths[result.answer] == pytest.approx(best, rel=1e-6, abs=1e-6 * scale)
    assert problem.check(result.answer) == pytest.approx(worths[result.answer], abs=1e-9 * scale)


def test_pairs_outweigh_arcs_that_are_far_too_low_for_a_tree_without():
    arcs = np.zeros((4, 4))
    arcs[1, 2] = arcs[1, 3] = -1e7
    pairs = np.zeros((4, 4, 4))
    pairs[1, 2, 3] = 3e7
    result = solve(PairParsing(Instance(arcs), pairs))
    assert result.is_optimal
    assert result.answer == (0, 1, 1)
    assert result.objective == pytest.approx(1e7)


def test_what_is_no_score_of_pairs_is_refused():
    instance = random(3, 0)
    with pytest.raises(InputError, match="shape"):
        PairParsing(instance, np.zeros((3, 3, 3)))
    with pytest.raises(InputError, match="finite"):
        PairParsing(instance, np.full((4, 4, 4), -np.inf))
    ruled = np.zeros((4, 4, 4))
    ruled[0, 1, 2] = -np.inf
    with pytest.raises(InputError, match="rule out arcs"):
        PairParsing(Instance(instance.arc_scores, ruled), np.zeros((4, 4, 4)))


@pytest.mark.slow
@pytest.mark.parametrize("single_root", [False, True])
def test_the_complete_program_agrees(single_root):
    given = random(8, 5, single_root=single_root)
    pairs = np.random.default_rng(5).normal(size=(9, 9, 9))
    result = solve(PairParsing(given, pairs))
    assert result.is_optimal
    assert result.objective == pytest.approx(complete_with_pairs(given, pairs), abs=1e-5)


def complete_with_pairs(instance, pairs):
    """The optimum of the complete program, all four rows of logic and every pair in it, by HiGHS."""
    m = full(instance)
    m.both = pyo.Set(initialize=[(h, s, t) for h, s in m.arc for t in m.token if s < t != h], dimen=3)
    m.w = pyo.Var(m.both, bounds=(0, 1))
    m.first_of = pyo.Constraint(m.both, rule=lambda m, h, s, t: m.w[h, s, t] <= m.z[h, s])
    m.second_of = pyo.Constraint(m.both, rule=lambda m, h, s, t: m.w[h, s, t] <= m.z[h, t])
    m.both_of = pyo.Constraint(m.both, rule=lambda m, h, s, t: m.w[h, s, t] >= m.z[h, s] + m.z[h, t] - 1)
    m.score.set_value(m.score.expr + pyo.quicksum(float(pairs[part]) * m.w[part] for part in m.both))
    pyo.SolverFactory("appsi_highs").solve(m)
    return pyo.value(m.score)
