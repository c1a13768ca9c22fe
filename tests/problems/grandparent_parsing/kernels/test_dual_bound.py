"""Bounds at dual values of grandparent parts, against naive sums, all trees, and the descent."""

import numpy as np
import pytest

from colgen.problems.grandparent_parsing import CombinatorialDual, GrandparentInstance, from_scores
from colgen.problems.grandparent_parsing.bounds import bound_at
from colgen.problems.grandparent_parsing.standard import standard_scores
from colgen.solvers.trees.arborescence import arborescence
from tests.problems.dependency.treebank import random_weights, sentences
from tests.problems.grandparent_parsing.trees import all_worths


def naive(instance, pi):
    """D(π) from its definition."""
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
    found = arborescence(weights, single_root=instance.single_root)
    return -np.inf if found is None else found[1]


def drawn(seed, n, *, scale=1.0, penalty=False):
    rng = np.random.default_rng(seed)
    whole = seed % 2 == 0  # ties
    shape = (n + 1, n + 1)
    arcs, parts = rng.normal(size=shape), rng.normal(size=(n + 1, *shape))
    if whole:
        arcs, parts = np.round(2.0 * arcs), np.round(2.0 * parts)
    if penalty:
        arcs[1, 2] = parts[0, 1, n] = -1e4
    if seed % 3 == 0:
        arcs[rng.random(shape) < 0.2] = -np.inf
    return rng, GrandparentInstance(scale * arcs, scale * parts, None, single_root=seed % 4 < 2)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("scale", [1.0, 2.0**-30, 2.0**30])
@pytest.mark.parametrize("penalty", [False, True])
def test_any_dual_values_bound_all_trees(n, scale, penalty):
    for seed in range(12 if n < 6 else 3):
        rng, instance = drawn(seed, n, scale=scale, penalty=penalty and n > 2)
        standard = standard_scores(instance)
        worths = all_worths(instance)
        best = max(worths.values(), default=-np.inf)
        for spread in (0.0, 1.0, 3.0):
            pi = spread * scale * rng.normal(size=instance.arcs.shape)
            heads, bound, _ = bound_at(standard, pi, single_root=instance.single_root)
            if not worths:
                assert bound == -np.inf
                continue
            assert bound + standard.constant >= best - 1e-9 * standard.unit
            assert tuple(heads[1:].tolist()) in worths
            if standard.floor == -np.inf:
                assert bound + standard.constant == pytest.approx(naive(instance, pi), abs=1e-9 * standard.unit)


@pytest.mark.parametrize("n", range(1, 7))
def test_a_descent_bound_can_be_recomputed_from_its_dual_values(n):
    for seed in range(20 if n < 6 else 4):
        _, instance = drawn(seed, n)
        dual = CombinatorialDual(instance, single_root=instance.single_root)
        if dual.is_feasible:
            _, bound, _ = bound_at(dual.scores, dual.pi, single_root=instance.single_root)
            bound += dual.scores.constant
            assert max(all_worths(instance).values()) <= bound + 1e-9
            assert bound <= dual.bound + 1e-8 * max(dual.unit, abs(dual.bound))


@pytest.mark.parametrize("seed", range(4))
def test_lazy_and_dense_scores_prove_the_same_bound(seed):
    weights = random_weights(sentences(12, seed), seed, single_root=seed % 2 == 1)
    for sentence in sentences(12, seed)[:4]:
        scorer = weights.scorer(sentence)
        instance = from_scores(scorer, siblings=False, single_root=weights.single_root)
        dual = CombinatorialDual(scorer, single_root=weights.single_root)
        for pi in (dual.pi, dual.pi - 0.3, np.zeros_like(dual.pi)):
            _, lazy, scored = bound_at(standard_scores(scorer), pi, single_root=weights.single_root)
            dense = naive(instance, pi)
            assert lazy + dual.scores.constant == pytest.approx(dense, abs=1e-5)
            assert scored <= instance.grandparent_scores.size
