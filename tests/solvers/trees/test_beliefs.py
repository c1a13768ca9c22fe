"""Belief propagation on trees: exact where no pair has a score, near to exact sums where scores are small."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.solvers.arrays import ArrayError
from colgen.solvers.trees.beliefs import tree_beliefs
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_sums import projective_sums
from colgen.solvers.trees.matrix_tree import tree_sums


def drawn(size, spread, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, size)), spread * rng.normal(size=(size,) * 3)


def enumerated(arcs, grandchildren, projective):
    """log Z and the means of arcs and of pairs over a list of all trees."""
    size = len(arcs)
    by_arc, by_pair, values = [], [], []
    for heads in trees(size - 1, projective=projective):
        one, two = np.zeros(arcs.shape), np.zeros(grandchildren.shape)
        for m in range(1, size):
            h = heads[m]
            one[h, m] = two[heads[h] if h else 0, h, m] = 1.0
        values.append((one * arcs).sum() + (two * grandchildren).sum())
        by_arc.append(one)
        by_pair.append(two)
    log_partition = np.logaddexp.reduce(values)
    p = np.exp(np.array(values) - log_partition)
    return log_partition, np.tensordot(p, by_arc, 1), np.tensordot(p, by_pair, 1)


@pytest.mark.parametrize("single_root", [True, False])
def test_without_scores_of_pairs_arcs_are_exact(single_root):
    arcs, pairs = drawn(6, 0.0)
    arcs[1, 3] = arcs[0, 2] = -np.inf
    found = tree_beliefs(arcs, pairs, single_root=single_root)
    value, means = tree_sums(arcs[np.newaxis], single_root=single_root)
    assert found.log_partition == pytest.approx(value[0])
    assert found.arcs == pytest.approx(means[0])
    sums = projective_sums(Parts(arcs), single_root=single_root)
    found = tree_beliefs(arcs, pairs, projective=True, single_root=single_root)
    assert found.log_partition == pytest.approx(sums.log_partition)
    assert found.arcs == pytest.approx(sums.means["arcs"])


@pytest.mark.parametrize("projective", [True, False])
def test_beliefs_approach_the_marginals(projective):
    arcs, pairs = drawn(5, 1.0)
    errors = []
    for spread in (0.3, 0.03):
        value, by_arc, by_pair = enumerated(arcs, spread * pairs, projective)
        found = tree_beliefs(arcs, spread * pairs, projective=projective, iterations=30)
        assert found.residual < 1e-9
        assert found.arcs.sum(axis=0)[1:] == pytest.approx(np.ones(4))  # each word has one head
        errors.append([abs(found.log_partition - value), np.abs(found.arcs - by_arc).max()])
        assert np.abs(found.grandchildren[0, 0] - by_pair[0, 0]).max() <= errors[-1][1] + 1e-12
    assert max(errors[0]) < 0.2
    # what a pair's belief lacks is what two arcs of a tree depend on each other: linear in the pairs' scores
    assert max(errors[1]) < 0.2 * max(errors[0])


def test_beliefs_are_the_slopes_of_the_free_energy():
    arcs, pairs = drawn(5, 0.5, seed=2)
    along, across = drawn(5, 1.0, seed=3)
    found = tree_beliefs(arcs, pairs, iterations=60)
    ahead, behind = (
        tree_beliefs(arcs + e * along, pairs + e * across, iterations=60).log_partition for e in (1e-5, -1e-5)
    )
    slope = (found.arcs * along).sum() + (found.grandchildren * across).sum()
    assert (ahead - behind) / 2e-5 == pytest.approx(slope, abs=1e-6)


def test_sure_scores_leave_numbers():
    arcs, pairs = drawn(6, 30.0)
    found = tree_beliefs(100.0 * arcs, pairs, projective=True)
    assert np.isfinite(found.arcs).all()
    assert np.isfinite(found.grandchildren).all()
    assert np.isfinite(found.log_partition)


def test_forbidden_pairs_have_no_belief():
    arcs, pairs = drawn(4, 0.5)
    pairs[0, 1, 2] = -np.inf
    assert tree_beliefs(arcs, pairs).grandchildren[0, 1, 2] == 0.0
    arcs[:, 2] = -np.inf
    none = tree_beliefs(arcs, pairs)
    assert none.log_partition == -np.inf
    assert not none.arcs.any()
    with pytest.raises(ArrayError, match="grandchildren: expected"):
        tree_beliefs(arcs, pairs[0])
