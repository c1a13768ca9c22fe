"""Batches: the same as instances alone, whatever the lengths; what does not fit is refused by its instance."""

import numpy as np
import pytest

from colgen.core.errors import InputError
from colgen.learning import Chains, EnumeratedStructures, ProjectiveTrees, Trees, marginals, sparsemap
from colgen.learning.batches import batch_of, batch_sums

RNG = np.random.default_rng(0)
CASES = [
    (Chains(), [RNG.normal(size=(3, 4, 2)), RNG.normal(size=(2, 2))]),
    (Chains(), [RNG.normal(size=(3, 4, 2)), RNG.normal(size=(3, 2, 2))]),
    (Chains(), [RNG.normal(size=(3, 4, 2)), RNG.normal(size=(3, 4, 2, 2))]),
    (Trees(single_root=True), [RNG.normal(size=(3, 5, 5))]),
    (ProjectiveTrees("siblings"), [RNG.normal(size=(3, 5, 5)), RNG.normal(size=(3, 5, 5, 5))]),
]
LENGTHS = np.array([4, 1, 3])


@pytest.mark.parametrize(("model", "arrays"), CASES)
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_sums_are_those_of_instances_alone(model, arrays, lengths):
    batch = batch_of(model, arrays, lengths=lengths)
    sums = batch_sums(batch)
    directions = [np.random.default_rng(1).normal(size=mean.shape) for mean in sums.means]
    moved = sums.tangent(*directions)
    whole = type(batch)(model, batch.arrays, (False,) * len(arrays), batch.lengths)
    for k in range(3):
        alone = marginals(model, *batch.instance(k))
        assert sums.log_partition[k] == pytest.approx(alone.log_partition)
        for own, mean in zip(whole.instance(k, sums.means), alone.means, strict=True):
            assert own == pytest.approx(mean)
        back = alone.gradient(*whole.instance(k, directions))
        for own, gradient in zip(whole.instance(k, moved), back, strict=True):
            assert own == pytest.approx(gradient)
    beyond = sums.means[0].copy()
    for k in range(3):
        whole.instance(k, (beyond, *sums.means[1:]))[0][...] = 0.0
    assert not beyond.any()


def test_masks_are_equivalent_to_lengths():
    mask = np.arange(4) < LENGTHS[:, np.newaxis]
    assert batch_of(*CASES[0], mask=mask).lengths.tolist() == LENGTHS.tolist()
    assert batch_of(*CASES[3], mask=mask).lengths.tolist() == LENGTHS.tolist()


HOLES = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 1, 1]], dtype=bool)  # left padding, holes, everything


@pytest.mark.parametrize(("model", "arrays"), CASES)
@pytest.mark.parametrize("workers", [1, 2])
def test_masks_may_have_holes(model, arrays, workers):
    """Instances are those of the existing positions alone; means and tangents are zero elsewhere."""
    batch = batch_of(model, arrays, mask=HOLES, workers=workers)
    sums = batch_sums(batch)
    directions = [np.random.default_rng(1).normal(size=mean.shape) for mean in sums.means]
    moved = sums.tangent(*directions)
    for k, mask in enumerate(HOLES):
        true = np.flatnonzero(mask) if isinstance(model, Chains) else np.append(0, np.flatnonzero(mask) + 1)
        longest = 4 if isinstance(model, Chains) else 5
        axes = [
            [true if size == longest else np.arange(size) for size in (array if shared else array[k]).shape]
            for array, shared in zip(arrays, batch.shared, strict=True)
        ]
        own = [(a if s else a[k])[np.ix_(*ax)] for a, s, ax in zip(arrays, batch.shared, axes, strict=True)]
        assert all(map(np.array_equal, batch.instance(k), own))
        alone = marginals(model, *own)
        assert sums.log_partition[k] == pytest.approx(alone.log_partition)
        back = alone.gradient(*(d[k][np.ix_(*ax)] for d, ax in zip(directions, axes, strict=True)))
        for found, expected in ((sums.means, alone.means), (moved, back)):
            for whole, part, ax in zip(found, expected, axes, strict=True):
                full = np.zeros(whole[k].shape)
                full[np.ix_(*ax)] = part
                assert whole[k] == pytest.approx(full)


def test_gold_labels_are_those_of_the_existing_positions():
    chains = batch_of(*CASES[0], mask=HOLES)
    assert Chains.labels(chains.gold(1, np.array([1, 7, 0, -100])), 2).tolist() == [1, 0]
    assert Chains.labels(chains.gold(1, np.array([1, 0])), 2).tolist() == [1, 0]
    trees = batch_of(*CASES[3], mask=HOLES)
    # words 1 and 3 exist; 3 is the head of 1
    assert Trees.heads(trees.gold(1, [-1, 3, 9, 0, 9])).tolist() == [-1, 2, 0]
    assert Trees.heads(trees.gold(1, [-1, 2, 0])).tolist() == [-1, 2, 0]
    assert Trees.heads(trees.gold(2, [-1, 2, 0, 2, 2])).tolist() == [-1, 2, 0, 2, 2]
    with pytest.raises(InputError, match="gold: the head of position 3 is 2, which the mask leaves out"):
        trees.gold(1, [-1, 3, 0, 2, 0])
    parts = Trees.structure(np.array([-1, 2, 0]))
    assert trees.gold(1, parts).key == trees.gold(1, [-1, 3, 9, 0, 9]).key
    with pytest.raises(InputError, match="gold: expected 3 numbers"):
        trees.gold(1, [-1, 2, 0, 0])
    with pytest.raises(InputError, match="gold: expected 4 numbers"):
        batch_of(*CASES[0]).gold(1, [0, 0, 0, 0, 0])  # cut without a word


def test_oracles_of_ones_own_are_cut_along_their_first_axis_or_as_they_say():
    scores = np.arange(6.0).reshape(2, 3)
    oracle = EnumeratedStructures(np.eye(3))
    assert batch_of(oracle, [scores], lengths=[2, 3]).instance(0)[0].tolist() == [0.0, 1.0]
    oracle.crop = lambda length, array: (array[-length:],)
    assert batch_of(oracle, [scores], lengths=[2, 3]).instance(0)[0].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("lengths: expected .*from 1 to 4, got 5 at", {"lengths": [4, 5, 1]}),
        ("lengths: expected", {"lengths": [4, 1]}),
        ("expected lengths or a mask, not both", {"lengths": [4, 1, 1], "mask": np.ones((3, 4))}),
        ("mask: expected one true entry or more .* in instance 1", {"mask": [[1] * 4, [0] * 4, [1] * 4]}),
        ("mask: expected the shape", {"mask": [[1] * 5] * 3}),
        ("shared: expected a truth value for each of 2 arrays", {"shared": [True]}),
    ],
)
def test_wrong_shapes_raise_errors(said, arguments):
    with pytest.raises(InputError, match=said):
        batch_of(*CASES[0], **arguments)


def test_invalid_scores_raise_errors():
    with pytest.raises(InputError, match=r"expected three axes, .* shape \(4, 2\)"):
        batch_of(Chains(), [np.zeros((4, 2)), np.zeros((2, 2))])
    with pytest.raises(InputError, match=r"scores 1: expected 3 instances.* got 2"):
        batch_of(Chains(), [np.zeros((3, 4, 2)), np.zeros((2, 2, 2))])


@pytest.mark.parametrize("number", [0, 2, 3, 4])
def test_an_instance_without_allowed_structures_is_named(number):
    model, arrays = CASES[number]
    forbidden = arrays[0].copy()
    forbidden[1] = -np.inf
    with pytest.raises(InputError, match=r"instance 1.*forbidden"):
        batch_sums(batch_of(model, [forbidden, *arrays[1:]]))


@pytest.mark.parametrize("number", [0, 2, 3, 4])
@pytest.mark.parametrize("workers", [2, 3, 5])
def test_any_number_of_workers_finds_the_same(number, workers):
    model, arrays = CASES[number]
    alone, together = (batch_sums(batch_of(model, arrays, lengths=LENGTHS, workers=count)) for count in (1, workers))
    assert together.log_partition.tolist() == alone.log_partition.tolist()
    assert all(map(np.array_equal, together.means, alone.means))
    directions = [np.random.default_rng(k).normal(size=mean.shape) for k, mean in enumerate(alone.means)]
    assert all(map(np.array_equal, together.tangent(*directions), alone.tangent(*directions)))


@pytest.mark.parametrize("number", [0, 2, 3, 4])
def test_workers_name_the_first_invalid_instance_of_the_batch(number):
    model, arrays = CASES[number]
    forbidden = arrays[0].copy()
    forbidden[1:] = -np.inf
    batch = batch_of(model, [forbidden, *arrays[1:]], workers=3)
    with pytest.raises(InputError, match=r"instance 1.*forbidden"):
        batch_sums(batch)
    with pytest.raises(InputError, match=r"instance 1.*forbidden"):
        batch.each(lambda *own: sparsemap(model, *own))


@pytest.mark.parametrize("workers", [0, 1.5, "2"])
def test_workers_are_counted(workers):
    with pytest.raises(InputError, match="workers: expected"):
        batch_of(*CASES[0], workers=workers)
