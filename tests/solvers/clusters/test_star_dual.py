"""Dual values of stars: bound and decisions against enumeration, and graphs that triangles leave open."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colgen.problems.coreference import modularity
from colgen.solvers.clusters.persistency import find_persistent
from colgen.solvers.clusters.star_dual import MEMBERS, recompute_bound, star_bound
from colgen.solvers.clusters.triangle_dual import triangle_bound
from tests.solvers.clusters.test_dual_proof import matrices, partitions, score


def random_stars(n, rng):
    """Stars of all sizes, with dual values."""
    rows = np.full((20, MEMBERS + 1), -1, dtype=np.int32)
    for row in rows:
        chosen = rng.permutation(n)[: int(rng.integers(3, min(n, MEMBERS + 1) + 1))]
        row[0], row[1 : len(chosen)] = chosen[0], np.sort(chosen[1:])
    return rows, rng.exponential(0.3, 20)


def check(scores, found):
    groups, apart = found.together, found.apart
    for labels in partitions(len(scores)):
        worth = score(scores, labels)
        assert worth <= found.bound + 1e-9
        if worth >= found.score:
            same = np.equal.outer(labels, labels)
            assert same[np.equal.outer(groups, groups)].all()
            assert not (same & apart).any()


@given(matrices())
def test_bound_and_decisions_hold_for_every_clustering(scores):
    found = star_bound(scores, np.arange(len(scores)))
    assert found.score == pytest.approx(score(scores, found.labels), abs=1e-9)
    check(scores, found)


@given(matrices(), st.integers(0, 10**6))
def test_any_dual_values_prove_a_bound(scores, seed):
    n = len(scores)
    if n < 3:
        return
    stars, duals = random_stars(n, np.random.default_rng(seed))
    check(scores, recompute_bound(scores, stars, duals, np.zeros(n, dtype=np.int64)))


@pytest.mark.parametrize(
    "row",
    [
        [0, 1, -1, -1],  # a centre and one other
        [0, 2, 1, -1],  # not ascending
        [0, 0, 1, -1],  # the centre twice
        [0, 1, -1, 2],  # a hole
        [0, 1, 4, -1],  # no such item
        [-1, 1, 2, -1],
    ],
)
def test_an_invalid_star_is_rejected(row):
    with pytest.raises(ValueError, match="stars: expected rows"):
        recompute_bound(np.zeros((4, 4)), np.array([row], dtype=np.int32), np.ones(1), np.zeros(4, dtype=np.int64))


def test_a_claw_needs_three_items():
    """At one half on three edges no triangle is violated, which is worth 3/2; two of its tips cannot be together."""
    scores = np.zeros((4, 4))
    scores[0, 1:] = scores[1:, 0] = 1.0
    scores[1:, 1:] = -10.0 * (1.0 - np.eye(3))
    assert triangle_bound(scores, np.arange(4)).bound >= 1.5 - 1e-6
    assert star_bound(scores, np.arange(4)).bound == pytest.approx(1.0, abs=1e-3)


def test_planted_communities_are_proved_without_columns():
    graph = nx.planted_partition_graph(5, 12, 0.5, 0.03, seed=0)
    scores = modularity(graph).clipped
    assert not triangle_bound(scores, np.arange(60)).closed
    found = star_bound(scores, np.arange(60))
    assert found.closed
    assert found.labels.max() == 4
    left = find_persistent(scores)
    assert not left.groups
    assert left.bound == pytest.approx(found.score)


def test_a_random_graph_is_bounded_within_a_hundredth():
    """Each separation finds few rows: with at most four per ε the gap is 3%."""
    scores = modularity(nx.gnp_random_graph(60, 0.1, seed=1)).clipped
    found = star_bound(scores, np.arange(60))
    alone = modularity(nx.gnp_random_graph(60, 0.1, seed=1)).constant
    assert found.bound - found.score < 0.01 * (found.score + alone)
