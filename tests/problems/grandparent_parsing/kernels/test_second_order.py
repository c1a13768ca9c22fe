"""Bounds at arbitrary multipliers of candidate arcs, against all trees."""

import numpy as np
import pytest

from colgen.problems.grandparent_parsing.kernels.automata_dual import marginals
from colgen.problems.grandparent_parsing.kernels.second_order import Candidates, ascend, bound_at, first_candidates
from colgen.problems.grandparent_parsing.kernels.tree_parts import automata_of, given_parts
from tests.problems.grandparent_parsing.kernels.test_arc_prices import bounds_of
from tests.problems.grandparent_parsing.kernels.test_automata_dual import scores, trees, worth


def drawn(seed, n, *, unit=1.0, penalty=False):
    """Scores, ties in half of them, and candidate arcs."""
    arcs, grandparents, siblings = scores(seed, n)
    given = [arcs, (0.2, 1.0, 3.0)[seed % 3] * grandparents, siblings]
    if seed % 2:
        given = [np.round(2.0 * array) for array in given]
    if penalty:
        given[0][1, 2] = given[1][0, 1, n] = given[2][0, 1, 2] = -1e4
    given = [unit * array for array in given]
    candidates, feasible = first_candidates(given[0], bounds_of(*given[1:]), seed % 4 < 2, 1 + seed % 2)
    assert feasible
    return given, candidates, seed % 4 < 2


def all_scores(given, single_root):
    n = len(given[0]) - 1
    return [(worth(*given, tree), tree) for tree in trees(n) if not single_root or (tree[1:] == 0).sum() == 1]


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize(("unit", "penalty"), [(1.0, False), (1.0, True), (2.0**-30, False), (2.0**30, False)])
def test_any_multipliers_bound_all_trees(n, unit, penalty):
    proved = 0
    for seed in range({5: 4, 6: 1}.get(n, 12)):
        given, candidates, single_root = drawn(seed, n, unit=unit, penalty=penalty and n > 2)
        arcs, grandparents, siblings = given
        best = max(score for score, _ in all_scores(given, single_root))
        rng = np.random.default_rng(seed)
        for spread in (0.0, 0.5, 2.0):
            parts = given_parts(n + 1, grandparents, siblings)
            leaving, entering = spread * unit * rng.normal(size=(2, n + 1, n + 1))
            copies, bounds = Candidates(candidates, leaving, entering), bounds_of(grandparents, siblings)
            bound, short, _, _ = bound_at(copies, arcs, bounds, parts, single_root, np.inf, unit)
            assert not (short & candidates).any()
            if bound < np.inf and not short.any():
                proved += 1
                assert bound >= best - 1e-8 * unit
    assert proved or n > 4


@pytest.mark.parametrize("seed", range(24))
def test_the_end_of_an_ascent_is_proved(seed):
    """Required arcs become candidates until none is left; the bound then holds for all trees."""
    n, unit = {22: 5, 23: 6}.get(seed, 3 + seed % 2), (1.0, 2.0**-30, 2.0**30)[seed % 3]
    given, candidates, single_root = drawn(seed, n, unit=unit, penalty=seed % 5 == 0)
    arcs, grandparents, siblings = given
    parts, bounds = given_parts(n + 1, grandparents, siblings), bounds_of(grandparents, siblings)
    leaving, entering = np.zeros((2, n + 1, n + 1))
    known, heads, lower = np.zeros_like(candidates), np.full(n + 1, -1), -np.inf
    for _ in range(20):
        copies = Candidates(candidates, leaving, entering)
        lower, _ = ascend(copies, known, arcs, parts, lower, heads, 100, single_root, unit)
        bound, short, leaving, entering = bound_at(copies, arcs, bounds, parts, single_root, np.inf, unit)
        if not short.any():
            break
        candidates = candidates | short
        known = candidates.copy()
    best = max(score for score, _ in all_scores(given, single_root))
    assert lower == pytest.approx(worth(*given, heads))
    assert lower <= best + 1e-8 * unit <= bound + 2e-8 * unit


@pytest.mark.parametrize("seed", range(24))
def test_trees_with_other_arcs_do_not_exceed_the_target(seed):
    n = 3 + seed % 2
    given, candidates, single_root = drawn(seed, n)
    arcs, grandparents, siblings = given
    parts = given_parts(n + 1, grandparents, siblings)
    leaving, entering = np.zeros((2, n + 1, n + 1))
    heads = np.full(n + 1, -1)
    copies = Candidates(candidates, leaving, entering)
    lower, _ = ascend(copies, np.zeros_like(candidates), arcs, parts, -np.inf, heads, 50, single_root, 1.0)
    bounds = bounds_of(grandparents, siblings)
    bound, short, _, _ = bound_at(copies, arcs, bounds, parts, single_root, lower, 1.0)
    a = automata_of(candidates, arcs, parts)
    most = marginals(a, leaving[a.heads, a.modifiers], entering[a.heads, a.modifiers], single_root)
    limits = {(h, m): top for h, m, top in zip(a.heads.tolist(), a.modifiers.tolist(), most.tolist(), strict=True)}
    for score, tree in all_scores(given, single_root):
        pairs = [(int(h), m) for m, h in enumerate(tree[1:], 1)]
        if all(pair in limits for pair in pairs):
            assert score <= min(bound, *(limits[pair] for pair in pairs)) + 1e-8
        elif not any(short[pair] for pair in pairs):
            assert score <= lower + 1e-8


def test_candidates_without_a_tree_prove_nothing():
    arcs, grandparents, siblings = scores(0, 3)
    parts, bounds = given_parts(4, grandparents, siblings), bounds_of(grandparents, siblings)
    zeros = np.zeros((4, 4))
    candidates = np.zeros((4, 4), dtype=np.bool_)
    candidates[1, 2] = candidates[2, 1] = candidates[0, 3] = True
    bound, short, _, _ = bound_at(Candidates(candidates, zeros, zeros), arcs, bounds, parts, False, np.inf, 1.0)
    assert bound == np.inf
    assert short.any()
    arcs[0, 1:] = -np.inf
    assert bound_at(Candidates(candidates, zeros, zeros), arcs, bounds, parts, False, np.inf, 1.0)[0] == -np.inf
