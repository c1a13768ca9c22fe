"""Sums over projective trees of all orders: against enumeration; derivatives; samples by frequency."""

import numpy as np
import pytest

from benchmarks.learning.reference import trees
from colgen.solvers.arrays import ArrayError
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_sums import projective_sums
from tests.solvers.trees.test_matrix_tree import drawn_scores, enumerated
from tests.sweeps import seeds


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("seed", seeds(16))
def test_of_arcs_are_those_of_all_trees(seed, single_root):
    rng = np.random.default_rng(seed)
    scores = drawn_scores(rng, int(rng.integers(1, 5)))
    value, arcs = enumerated(scores, single_root=single_root, projective=True)
    sums = projective_sums(Parts(scores), single_root=single_root)
    assert sums.log_partition == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert sums.means["arcs"] == pytest.approx(arcs, abs=1e-9)


@pytest.mark.parametrize("names", [("siblings",), ("grandchildren",), ("siblings", "grandchildren"), ("triples",)])
@pytest.mark.parametrize("single_root", [False, True])
def test_of_all_orders_are_those_of_all_trees(names, single_root):
    rng = np.random.default_rng(len(names))
    size = 5
    given = {name: rng.normal(size=(size,) * 3) for name in names if name != "triples"}
    if "triples" in names:
        given = {"triples": rng.normal(size=(2, 2, 3, 3, 3, 3)), "kinds": rng.integers(0, 2, size)}
    parts = Parts(rng.normal(size=(size, size)), **given)
    everything = list(trees(size - 1, single_root=single_root, projective=True))
    values = np.array([parts.score((0, *tree[1:])) for tree in everything])
    sums = projective_sums(parts, single_root=single_root)
    assert sums.log_partition == pytest.approx(np.logaddexp.reduce(values), rel=1e-12)
    arcs = np.zeros((size, size))
    for p, tree in zip(np.exp(values - np.logaddexp.reduce(values)), everything, strict=True):
        arcs[list(tree[1:]), range(1, size)] += p
    assert sums.means["arcs"] == pytest.approx(arcs, abs=1e-9)
    # the means of the parts are the derivatives of the log-partition function
    for name in names:
        along = rng.normal(size=sums.means[name].shape)
        ahead, behind = (
            projective_sums(
                parts.rescored(parts.arcs, **{name: getattr(parts, name) + e * along}), single_root=single_root
            )
            for e in (1e-5, -1e-5)
        )
        slope = (ahead.log_partition - behind.log_partition) / 2e-5
        assert (sums.means[name] * along).sum() == pytest.approx(slope, abs=1e-7)
        first, moved = sums.tangent(**{name: along})
        assert first == pytest.approx(slope, abs=1e-7)
        for other, mean in moved.items():
            assert mean == pytest.approx((ahead.means[other] - behind.means[other]) / 2e-5, abs=1e-7)


def test_samples_come_with_their_probabilities():
    rng = np.random.default_rng(2)
    sums = projective_sums(Parts(rng.normal(size=(4, 4)), siblings=rng.normal(size=(4, 4, 4))), single_root=False)
    heads = np.array([sums.sample(rng) for _ in range(3000)])
    frequencies = np.array([(heads[:, 1:] == h).mean(axis=0) for h in range(4)])
    assert frequencies == pytest.approx(sums.means["arcs"][:, 1:], abs=0.05)


def test_outermost_grandchildren_are_refused():
    with pytest.raises(ArrayError, match="outermost: "):
        projective_sums(Parts(np.zeros((3, 3)), outermost=np.zeros((3, 3, 3))))


def test_no_tree_has_no_sums():
    sums = projective_sums(Parts(np.full((3, 3), -np.inf)))
    assert sums.log_partition == -np.inf
    assert not sums.means["arcs"].any()
    assert sums.sample(np.random.default_rng(0)) is None
