"""Oracles of linear objectives, against enumeration; batches in one call."""

import itertools

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import EnumeratedStructures, GraphPaths, Knapsacks, best_structure, sparsemap, spo_plus
from colgen.learning.batches import batch_of, best_counts
from tests.sweeps import seeds

GRID = 3
ARCS = [(3 * i + j, 3 * i + j + 1) for i in range(3) for j in range(2)]
ARCS += [(3 * i + j, 3 * i + j + 3) for i in range(2) for j in range(3)]
TAILS, HEADS = np.array(ARCS).T


def grid_paths():
    """The six paths of a 3 x 3 grid from corner to corner, as masks over its arcs."""
    paths = []
    for downs in itertools.combinations(range(4), 2):
        node, path = 0, np.zeros(len(ARCS))
        for step in range(4):
            following = node + (3 if step in downs else 1)
            path[ARCS.index((node, following))] = 1.0
            node = following
        paths.append(path)
    return paths


def knapsack(rng):
    sizes, capacities = rng.integers(1, 9, (2, 6)) / 2, np.array([8.0, 7.0])
    sets = [np.array(s) for s in itertools.product([0.0, 1.0], repeat=6) if (sizes @ s <= capacities).all()]
    return Knapsacks(sizes, capacities), sets


def cases(rng):
    return [(GraphPaths(TAILS, HEADS, sink=8), grid_paths()), knapsack(rng)]


@pytest.mark.parametrize("seed", seeds(6))
def test_structures_are_best(seed):
    rng = np.random.default_rng(seed)
    for oracle, structures in cases(rng):
        scores = rng.normal(size=(4, len(structures[0])))
        scores[rng.uniform(size=scores.shape) < 0.1] = -np.inf
        listed = EnumeratedStructures(structures)
        scores = np.array([own for own in scores if listed.best(own) is not None])
        (counts,) = best_counts(batch_of(oracle, [scores], workers=2))
        for own, together in zip(scores, counts, strict=True):
            expected = best_structure(listed, [own]).score([own])
            assert best_structure(oracle, [own]).score([own]) == pytest.approx(expected, abs=1e-12)
            assert own[together > 0.0].sum() == pytest.approx(expected, abs=1e-12)
        true = rng.normal(size=len(structures[0]))
        own = rng.normal(size=len(true))
        assert spo_plus(oracle, None, own, true=true).value == pytest.approx(
            spo_plus(listed, None, own, true=true).value, abs=1e-9
        )
        np.testing.assert_allclose(sparsemap(oracle, own).marginals, sparsemap(listed, own).marginals, atol=1e-9)


def test_counts_of_batches_without_a_method_for_batches():
    rng = np.random.default_rng(0)
    oracle, structures = knapsack(rng)
    scores = rng.normal(size=(3, 6))
    one, each = (best_counts(batch_of(o, [scores]))[0] for o in (oracle, EnumeratedStructures(structures)))
    np.testing.assert_array_equal(one, each)

    class Short(Knapsacks):
        def best_of_each(self, scores):
            return super().best_of_each(scores)[:, :2]

    with pytest.raises(InputError, match=r"Short\.best_of_each"):
        best_counts(batch_of(Short(oracle.sizes, oracle.capacities), [scores]))


def test_wrong_arguments():
    paths = GraphPaths([0, 1, 1], [1, 0, 2], sink=2)
    with pytest.raises(InputError, match="no circuit of positive score"):
        best_structure(paths, [np.array([1.0, 1.0, 0.0])])
    with pytest.raises(InputError, match=r"every structure is forbidden: GraphPaths\.best found none"):
        best_structure(paths, [np.array([1.0, -2.0, -np.inf])])
    with pytest.raises(InputError, match="instance 1 of the batch: every path is forbidden"):
        best_counts(batch_of(paths, [np.array([[1.0, -2.0, 0.0], [1.0, -2.0, -np.inf]])]))
    with pytest.raises(InputError, match=r"scores: expected the shape \(3,\)"):
        best_structure(paths, [np.zeros(2)])
    with pytest.raises(InputError, match="heads"):
        GraphPaths([0, 1], [1], sink=1)
    with pytest.raises(InputError, match="sink: expected an integer of at least 0"):
        GraphPaths([0], [1], sink=-1)
    with pytest.raises(InputError, match="capacities"):
        Knapsacks([[1.0, 2.0]], [1.0, 2.0])
    assert best_structure(GraphPaths([0], [1], sink=0), [np.zeros(1)]).parts[0][0].size == 0
