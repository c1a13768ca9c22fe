"""The search against enumeration, and the theorem on the slacks of arcs that are not alive."""

import numpy as np
import pytest

from solvers.head_automata import optimistic, relax
from solvers.second_order import Bounds, arc_slacks, automata_of, given_parts, narrowed, search
from tests.solvers.test_head_automata import scores, trees, worth


def bounds_of(grandparents, siblings):
    n = len(grandparents) - 1
    vertices = np.arange(n + 1)
    most = grandparents.max(axis=0)
    most[0] = 0.0
    last = np.ascontiguousarray(siblings[vertices, :, vertices])
    return Bounds(most, siblings.max(axis=1), last, np.zeros((n + 1, n + 1), dtype=np.int64))


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


@pytest.mark.parametrize("exact", [False, True])
def test_trees_lose_the_slacks_of_their_arcs(exact):
    n, held = 4, 0
    for seed in range(60):
        arcs, grandparents, siblings = scores(seed, n)
        grandparents, siblings = 0.1 * grandparents, 0.1 * siblings
        parts = given_parts(n + 1, grandparents, siblings)
        a = automata_of(narrowed(arcs, 2), arcs, parts)
        alive = np.ones(len(a.heads), dtype=np.bool_)
        leaving, entering, best = optimistic(a, alive), np.zeros(len(alive)), np.full(n + 1, -1)
        _, lower, _ = relax(a, alive, leaving, entering, -np.inf, best, 20, False, False)
        bounds = bounds_of(grandparents, siblings)
        bound, slack = arc_slacks(a, alive, leaving, entering, arcs, bounds, parts, False, lower, exact)
        if (slack < 0.0).any():  # of these the theorem does not speak
            continue
        held += 1
        for heads in trees(n):
            own = slack[heads[1:], np.arange(1, n + 1)]
            value = worth(arcs, grandparents, siblings, heads)
            assert value <= bound - own[own < np.inf].sum() + 1e-9
    assert held >= 10


def test_only_asked_parts_count_as_scored():
    _, grandparents, siblings = scores(0, 5)
    arcs = np.full((6, 6), -np.inf)
    arcs[np.arange(5), np.arange(1, 6)] = 1.0
    parts = given_parts(6, grandparents, siblings)
    automata_of(arcs > -np.inf, arcs, parts)
    assert parts.scored[0] == 4  # a chain has one grandparent for each token but the first
