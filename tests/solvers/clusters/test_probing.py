"""Probing against enumeration, for any clustering and dual values."""

import networkx as nx
import numpy as np
import pytest

from colgen.problems.coreference import modularity
from colgen.solvers.clusters import probing
from colgen.solvers.clusters.probing import Join, find_joins, join_numbers, part_pair, required_bound
from colgen.solvers.clusters.star_dual import star_bound
from colgen.solvers.clusters.steps import Probed, UnprovedError, apply_step, initial_state
from tests.solvers.clusters.test_dual_proof import partitions, score
from tests.solvers.clusters.test_star_dual import random_stars
from tests.sweeps import seeds
from tests.twins.coreference import symmetric


def best_left(state):
    return state.within.sum() + max(score(state.scores, labels) for labels in partitions(len(state.groups)))


@pytest.mark.parametrize("factor", [1.0, 1e-8, 1e8])
@pytest.mark.parametrize("seed", seeds(8))
def test_pairs_are_together_in_every_best_clustering(seed, factor, monkeypatch):
    monkeypatch.setattr(probing, "_FEW", 2)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    values = rng.normal(size=n * (n - 1) // 2) if seed % 2 else rng.integers(-3, 4, n * (n - 1) // 2)
    scores = factor * symmetric(n, values)
    found = star_bound(scores, np.arange(n))
    listed = find_joins(scores, found.labels, found.rows, found.duals)
    state = apply_step(initial_state(scores), Probed(np.arange(n), found.labels, tuple(listed)))
    assert len(state.groups) == n - len(listed)
    worth = {labels: score(scores, labels) for labels in map(tuple, partitions(n))}
    best = max(worth.values())
    assert best_left(state) == pytest.approx(best, rel=1e-9)
    for labels, value in worth.items():
        if value >= found.score:
            assert all(len({labels[k] for k in group}) == 1 for group in state.groups)


def test_much_of_a_random_graph_is_decided():
    """Stars alone decide no pair; probing joins pairs until few items are left."""
    instance = modularity(nx.gnp_random_graph(40, 0.1, seed=1))
    found = star_bound(instance.clipped, np.arange(40))
    listed = find_joins(instance.clipped, found.labels, found.rows, found.duals)
    assert len(np.unique(found.together)) == 40
    assert len(listed) >= 10
    state = apply_step(initial_state(instance.clipped), Probed(np.arange(40), found.labels, tuple(listed)))
    assert len(state.groups) == 40 - len(listed)
    assert find_joins(instance.clipped, found.labels, found.rows, found.duals, expired=lambda: True) == []


@pytest.mark.parametrize("seed", seeds(40))
def test_steps_keep_an_optimum_or_are_rejected(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    scores = symmetric(n, rng.normal(size=n * (n - 1) // 2) + 0.5)
    stars, duals = random_stars(n, rng)
    best = max(partitions(n), key=lambda labels: score(scores, labels))
    labels = np.unique(best, return_inverse=True)[1] if seed % 2 else rng.integers(0, 2, n)
    i, j = sorted(rng.choice(n, 2, replace=False).tolist())
    try:
        state = apply_step(initial_state(scores), Probed(np.arange(n), labels, (Join(i, j, stars, 0.1 * duals),)))
    except UnprovedError:
        return
    assert best_left(state) == pytest.approx(score(scores, np.array(best)), abs=1e-9)


def test_a_tie_decides_nothing():
    scores = symmetric(3, [1.0, 1.0, -1.0])  # 0 is with 1 or with 2
    labels = np.array([0, 0, 1])
    star, dual = np.array([[0, 1, 2]], dtype=np.int32), np.ones(1)
    assert score(part_pair(scores, 0, 1), [0, 1, 0]) == 1.0 > required_bound(scores, labels)
    for pair, what in (((0, 1), "allows clusterings"), ((0, 2), "separates them"), ((1, 0), "separates them")):
        with pytest.raises(UnprovedError, match=what):
            apply_step(initial_state(scores), Probed(np.arange(3), labels, (Join(*pair, star, dual),)))
    better = symmetric(3, [1.5, 1.0, -1.0])
    state = apply_step(initial_state(better), Probed(np.arange(3), labels, (Join(0, 1, star, dual),)))
    assert [group.tolist() for group in state.groups] == [[0, 1], [2]]
    assert join_numbers(4, 1, 2).tolist() == [0, 1, 1, 2]
