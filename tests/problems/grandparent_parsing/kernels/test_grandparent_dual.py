"""The combinatorial dual against its linear program and against naive Python."""

import numpy as np
import pytest
from hypothesis import given, settings

from colgen import LinearMaster
from colgen.model.rows import compile_model
from colgen.problems.grandparent_parsing import GrandparentInstance, random
from colgen.problems.grandparent_parsing.kernels.dual_state import start, supply
from colgen.problems.grandparent_parsing.kernels.grandparent_dual import descend
from colgen.problems.grandparent_parsing.model import full
from colgen.solvers.trees.arborescence import arborescence
from tests.problems.grandparent_parsing.trees import instances, optimum, worth


def run(instance, iterations=3000, rounds=None):
    """Bound, score, final state, and the requested batches of parts."""
    dual = start(instance.arcs, instance.parent_child_bounds, instance.grandparent_parent_bounds)
    state = np.array([np.inf, 1.0, 0.0, 0.0, 0.0])
    asked = []
    bound, score, wanted = descend(dual, iterations, instance.single_root, -np.inf, state)
    while len(wanted):
        asked += map(tuple, wanted.tolist())
        supply(dual, wanted, instance.grandparents(wanted))
        bound, score, wanted = descend(dual, iterations, instance.single_root, score, state)
    return bound, score, dual, asked


def value(instance, pi):
    """D(π), naively."""
    n = len(instance)
    weights = np.full((n + 1, n + 1), -np.inf)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if instance.arcs[h, m] > -np.inf:
                gains = [
                    max(0.0, instance.grandparent_scores[h, m, c] - pi[m, c])
                    for c in range(1, n + 1)
                    if c not in (h, m) and instance.arcs[m, c] > -np.inf
                ]
                weights[h, m] = instance.arcs[h, m] + (pi[h, m] if h else 0.0) + sum(gains)
    return arborescence(weights, single_root=instance.single_root)[1]


@settings(max_examples=60)
@given(instance=instances(4))
def test_bound_and_tree_score_are_correct(instance):
    instance = GrandparentInstance(instance.arc_scores, instance.grandparent_scores, None, instance.single_root)
    best = optimum(instance)
    bound, score, dual, asked = run(instance)
    if best is None:
        assert bound == score == -np.inf
        return
    assert worth(instance, tuple(dual.best[1:].tolist())) == pytest.approx(score)
    assert score <= best + 1e-9 <= bound + 2e-9
    assert len(set(asked)) == len(asked)
    # Unscored parts count with a bound, so this bound is at least that of all scores.
    assert bound >= value(instance, dual.best_pi) - 1e-9


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("single_root", [False, True])
def test_the_minimum_equals_the_optimum_of_the_linear_program(seed, single_root):
    instance = random(6, seed, strength=1.5, single_root=single_root)
    program = LinearMaster(compile_model(full(instance, "all", connectivity="cuts"))).solve()
    bound, score, _, _ = run(instance)
    assert bound >= program.objective - 1e-7
    assert bound <= program.objective + 0.02 * abs(program.objective)
    if bound <= score + 1e-7:
        assert program.objective == pytest.approx(score)


def test_parts_of_no_visited_tree_are_not_requested():
    rng = np.random.default_rng(0)
    n = 12
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[np.arange(n), np.arange(1, n + 1)] += 20.0
    instance = GrandparentInstance(arcs, 0.1 * rng.normal(size=(n + 1,) * 3))
    bound, score, dual, asked = run(instance)
    assert bound == pytest.approx(score)
    assert dual.best[1:].tolist() == list(range(n))
    assert len(asked) < 3 * n


def test_two_tokens_with_only_root_arcs():
    """Two tokens can only be attached to the root: with a single root there is no tree."""
    arcs = np.full((3, 3), -np.inf)
    arcs[0, 1] = arcs[0, 2] = 1.0
    for single_root, expected in ((False, 2.0), (True, -np.inf)):
        bound, score, _, _ = run(GrandparentInstance(arcs, np.zeros((3, 3, 3)), single_root=single_root))
        assert bound == score == expected
    arcs[1, 2] = 0.5
    bound, score, dual, _ = run(GrandparentInstance(arcs, np.zeros((3, 3, 3)), single_root=True))
    assert bound == score == 1.5
    assert dual.best.tolist() == [-1, 0, 1]
