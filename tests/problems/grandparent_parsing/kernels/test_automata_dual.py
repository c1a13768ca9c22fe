"""Tree scores against a naive sum, bounds against enumeration, and fixing that keeps better trees."""

import itertools

import numpy as np
import pytest

from colgen.problems.grandparent_parsing.kernels.automata_dual import relax, root_price
from colgen.problems.grandparent_parsing.kernels.head_automata import lay_out, optimistic_multipliers, tree_score
from colgen.problems.grandparent_parsing.kernels.tree_parts import automata_of, given_parts
from colgen.solvers.trees.arborescence import arborescence, check_weights
from tests.sweeps import seeds


def trees(n):
    for heads in itertools.product(range(n + 1), repeat=n):
        vertices = (-1, *heads)
        if all(reaches_root(vertices, m) for m in range(1, n + 1)):
            yield np.array(vertices)


def reaches_root(heads, vertex):
    for _ in heads:
        vertex = 0 if vertex == 0 else heads[vertex]
    return vertex == 0


def worth(arcs, grandparents, siblings, heads):
    n = len(heads) - 1
    total = sum(arcs[heads[m], m] for m in range(1, n + 1))
    total += sum(grandparents[heads[heads[m]], heads[m], m] for m in range(1, n + 1) if heads[m] > 0)
    for h in range(n + 1):
        for side in (range(h - 1, 0, -1), range(h + 1, n + 1)):
            path = [h, *(m for m in side if heads[m] == h), h]
            if len(path) > 2:
                total += sum(siblings[h, s, m] for s, m in itertools.pairwise(path))
    return total


def scores(seed, n):
    rng = np.random.default_rng(seed)
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[rng.random(arcs.shape) < 0.15] = -np.inf
    arcs[0, 1:] = rng.normal(size=n)
    arcs[:, 0] = -np.inf
    np.fill_diagonal(arcs, -np.inf)
    return arcs, rng.normal(size=(n + 1,) * 3), rng.normal(size=(n + 1,) * 3)


def build(seed, n):
    arcs, grandparents, siblings = scores(seed, n)
    automata = automata_of(arcs > -np.inf, arcs, given_parts(n + 1, grandparents, siblings))
    return automata, (arcs, grandparents, siblings)


@pytest.mark.parametrize("seed", range(10))
def test_tree_scores(seed):
    automata, given = build(seed, 4)
    for heads in trees(4):
        assert tree_score(automata, heads) == pytest.approx(worth(*given, heads))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("iterations", [1, 5, 60])
@pytest.mark.parametrize(("single_root", "fix"), [(False, False), (True, True), (False, True)])
def test_bounds_hold(seed, iterations, single_root, fix):
    n = 4
    automata, given = build(seed, n)
    alive = np.ones(len(automata.heads), dtype=np.bool_)
    leaving, entering = optimistic_multipliers(automata, alive), np.zeros(len(alive))
    best = np.full(n + 1, -1)
    upper, lower, taken = relax(automata, alive, leaving, entering, -np.inf, best, iterations, single_root, fix, 1.0)
    all_trees = [heads for heads in trees(n) if not single_root or (heads == 0).sum() == 1]
    values = [worth(*given, heads) for heads in all_trees]
    assert 1 <= taken <= iterations
    assert lower == pytest.approx(worth(*given, best))
    assert lower <= max(values) + 1e-9
    assert max(upper, lower) >= max(values) - 1e-9
    for heads, value in zip(all_trees, values, strict=True):
        arcs = [automata.arc[heads[m], m] for m in range(1, n + 1)]
        if value > lower + 1e-6:  # no better tree has lost an arc
            assert alive[arcs].all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("iterations", [2, 5, 60])
@pytest.mark.parametrize("single_root", [False, True])
def test_the_bound_matches_the_final_multipliers(seed, iterations, single_root):
    """Automata are solved again only if multipliers changed; missing one would change the bound."""
    a, _ = build(seed, 7)
    multipliers = np.random.default_rng(seed).normal(size=(2, len(a.heads)))
    alive, heads = np.ones(len(a.heads), dtype=bool), np.full(8, -1)
    upper, lower, _ = relax(a, alive, *multipliers, -np.inf, heads, iterations, single_root, False, 1.0)
    afresh, _, _ = relax(a, alive, *multipliers, -np.inf, heads, 1, single_root, False, 1.0)
    assert max(upper, lower) == pytest.approx(max(afresh, lower))


def test_the_first_bound_uses_optimistic_multipliers():
    automata, given = build(3, 4)
    alive = np.ones(len(automata.heads), dtype=np.bool_)
    most = optimistic_multipliers(automata, alive)
    for e, (h, m) in enumerate(zip(automata.heads, automata.modifiers, strict=True)):
        grandparents = [given[1][g, h, m] for g in range(5) if g not in (h, m) and automata.arc[g, h] >= 0]
        assert h == 0 or most[e] >= max(grandparents, default=-np.inf) + given[2][h, h, m] - 1e-12


def test_no_tree():
    candidates = np.zeros((3, 3), dtype=np.bool_)
    candidates[1, 2] = candidates[2, 1] = True
    automata = lay_out(candidates, np.zeros((3, 3)))
    alive = np.ones(2, dtype=np.bool_)
    found = relax(automata, alive, np.zeros(2), np.zeros(2), -np.inf, np.full(3, -1), 10, False, True, 1.0)
    assert found[:2] == (-np.inf, -np.inf)


@pytest.mark.parametrize("seed", seeds(30))
def test_price_of_a_single_root(seed):
    rng = np.random.default_rng(seed)
    n = 6
    weights = check_weights(rng.normal(size=(n + 1, n + 1)) + np.where(np.arange(n + 1) == 0, 1.5, 0.0)[:, None])
    heads, value = arborescence(weights, single_root=True)
    price = root_price(weights, heads, 1.0)
    charged = weights.copy()
    charged[0] -= price
    # The dual solution at that price proves the single-root tree.
    assert arborescence(charged)[1] + price == pytest.approx(value)
    assert price >= 0.0
    if price > 1e-6:
        charged[0] += 1e-3
        assert arborescence(charged)[1] + price - 1e-3 > value + 1e-9
