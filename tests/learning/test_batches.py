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
        ("mask: expected one true entry or more, .* in instance 1", {"mask": [[1] * 4, [0, 1, 0, 0], [1] * 4]}),
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
