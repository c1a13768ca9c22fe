"""Clusterings of arrays."""

import numpy as np
import pytest

from colgen import InputError, Termination, TimeLimit, solve
from colgen.problems.coreference import Coreference, CoreferenceInstance, cluster, random_signs

SCORES = np.array([[0.0, 1.0, -2.0], [1.0, 0.0, 0.5], [-2.0, 0.5, 0.0]])


class OnlyDLPack:
    """An array type that supports only the DLPack protocol, not numpy."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **how):
        return self._array.__dlpack__(**how)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class HasArray:
    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


@pytest.mark.parametrize(
    "given",
    [
        SCORES,
        SCORES.tolist(),
        SCORES.astype(np.float16),
        SCORES.astype(np.float32),
        np.repeat(SCORES, 2, axis=1)[:, ::2],
        np.asfortranarray(SCORES),
        SCORES.astype(">f8"),
        OnlyDLPack(SCORES),
        HasArray(SCORES),
        CoreferenceInstance(SCORES),
        SCORES + np.triu(np.full((3, 3), 1e-9), 1),
    ],
    ids=[
        "float64",
        "lists",
        "float16",
        "float32",
        "strided",
        "columns",
        "bytes",
        "dlpack",
        "array",
        "instance",
        "near",
    ],
)
def test_array_protocols_are_supported(given):
    found = cluster(given)
    assert found.clusters == [(0, 1), (2,)]
    assert found.labels.tolist() == [0, 0, 1]
    assert found.score == pytest.approx(1.0, abs=1e-6)
    assert found.bound == pytest.approx(1.0, abs=1e-6)
    assert found.termination is Termination.OPTIMAL


def test_a_batch_equals_its_instances():
    whole = [random_signs(size, seed).scores for seed, size in enumerate((7, 4, 6))]
    batch = np.full((3, 7, 7), np.nan)
    for own, scores in zip(batch, whole, strict=True):
        own[: len(scores), : len(scores)] = scores
    found = cluster(batch, lengths=[7, 4, 6])
    for one, scores in zip(found, whole, strict=True):
        assert one.score == solve(Coreference(CoreferenceInstance(scores))).objective
        assert len(one.labels) == len(scores)


def test_forbidden_pairs_are_apart():
    scores = SCORES.copy()
    scores[0, 1] = scores[1, 0] = -np.inf
    assert cluster(scores).clusters == [(0,), (1, 2)]


@pytest.mark.parametrize(
    ("scores", "how", "words"),
    [
        (np.zeros((2, 3)), {}, "square|shape"),
        (np.array([SCORES, np.full((3, 3), np.nan)]), {}, r"scores\[1\]"),
        (SCORES, {"lengths": [3]}, "lengths"),
        (CoreferenceInstance(SCORES), {"lengths": [3]}, "lengths"),
        (SCORES[np.newaxis], {"lengths": [4]}, "lengths"),
        (SCORES[np.newaxis], {"lengths": [3, 3]}, "lengths"),
    ],
)
def test_invalid_batches_raise(scores, how, words):
    with pytest.raises(InputError, match=words) as caught:
        cluster(scores, **how)
    assert "\n" not in str(caught.value)


def test_a_limit_keeps_score_and_bound():
    found = cluster(random_signs(60, 1).scores, stop=TimeLimit(0.0))
    assert found.termination is Termination.TIME_LIMIT
    assert found.score <= found.bound
