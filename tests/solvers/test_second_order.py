"""The search against enumeration, and the theorem on the prices of arcs that are no candidates."""

import numpy as np
import pytest

from solvers.arborescence import arborescence, checked
from solvers.head_automata import optimistic, relax, root_price
from solvers.second_order import Bounds, automata_of, given_parts, narrowed, price_arcs, search
from tests.solvers.test_head_automata import scores, trees, worth


def bounds_of(grandparents, siblings):
    n = len(grandparents) - 1
    vertices = np.arange(n + 1)
    most = grandparents.max(axis=0)
    most[0] = 0.0
    last = np.ascontiguousarray(siblings[vertices, :, vertices])
    return Bounds(most, siblings.max(axis=1), last, np.zeros((n + 1, n + 1), dtype=np.bool_))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("strength", [0.2, 1.0])
def test_search_is_right_about_what_it_proves(seed, strength):
    n = 4
    arcs, grandparents, siblings = scores(seed, n)
    grandparents, siblings = strength * grandparents, strength * siblings
    best = max(worth(arcs, grandparents, siblings, heads) for heads in trees(n))
    parts = given_parts(n + 1, grandparents, siblings)
    heads, score, upper, allowed, counts = search(arcs, bounds_of(grandparents, siblings), parts, False, 1, 30, 20)
    assert score == pytest.approx(worth(arcs, grandparents, siblings, heads))
    assert score <= best + 1e-9 <= upper + 2e-9
    assert counts[0] >= n
    for tree in trees(n):  # a better tree has arcs that are allowed
        if worth(arcs, grandparents, siblings, tree) > score + 1e-6:
            assert allowed[tree[1:], np.arange(1, n + 1)].all()


@pytest.mark.parametrize("single_root", [False, True])
def test_better_trees_have_no_arc_that_is_too_expensive(single_root):
    n, held = 4, 0
    for seed in range(80):
        arcs, grandparents, siblings = scores(seed, n)
        grandparents, siblings = 0.2 * grandparents, 0.2 * siblings
        parts = given_parts(n + 1, grandparents, siblings)
        candidates = narrowed(arcs, 2)
        a = automata_of(candidates, arcs, parts)
        alive = np.ones(len(a.heads), dtype=np.bool_)
        leaving, entering, best = optimistic(a, alive), np.zeros(len(alive)), np.full(n + 1, -1)
        _, lower, _ = relax(a, alive, leaving, entering, -np.inf, best, 20, single_root, False)
        if lower == -np.inf:
            continue
        bounds = bounds_of(grandparents, siblings)
        bound, short, _, _ = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower)
        assert not (short & candidates).any()
        # Those given up become candidates; a theorem about the others is what is left.
        if short.any():
            continue
        held += 1
        for heads in trees(n):
            if single_root and (heads[1:] == 0).sum() != 1:
                continue
            value = worth(arcs, grandparents, siblings, heads)
            new = (~candidates[heads[1:], np.arange(1, n + 1)]).sum()
            assert value <= bound - new * max(bound - lower, 0.0) + 1e-6
    assert held >= 10


@pytest.mark.parametrize("seed", range(30))
def test_price_of_a_single_root(seed):
    rng = np.random.default_rng(seed)
    n = 6
    weights = checked(rng.normal(size=(n + 1, n + 1)) + np.where(np.arange(n + 1) == 0, 1.5, 0.0)[:, None])
    heads, value = arborescence(weights, single_root=True)
    price = root_price(weights, heads)
    charged = weights.copy()
    charged[0] -= price
    # The dual solution of the problem with that price proves the tree with one root.
    assert arborescence(charged)[1] + price == pytest.approx(value)
    assert price >= 0.0
    if price > 1e-6:
        charged[0] += 1e-3
        assert arborescence(charged)[1] + price - 1e-3 > value + 1e-9


def test_only_asked_parts_count_as_scored():
    _, grandparents, siblings = scores(0, 5)
    arcs = np.full((6, 6), -np.inf)
    arcs[np.arange(5), np.arange(1, 6)] = 1.0
    parts = given_parts(6, grandparents, siblings)
    automata_of(arcs > -np.inf, arcs, parts)
    assert parts.scored[0] == 4  # a chain has one grandparent for each token but the first
