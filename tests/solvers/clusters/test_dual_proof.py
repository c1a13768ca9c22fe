"""Clusterings that dual values prove best, against enumeration and set partitioning's relaxation in HiGHS."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from colgen.solvers.clusters.clustering import local_search
from colgen.solvers.clusters.contraction import components
from colgen.solvers.clusters.dual_proof import _begin, _prove, settle
from tests.sweeps import seeds
from tests.twins.coreference import symmetric


def score(scores, labels):
    labels = np.asarray(labels)
    return 0.5 * float(scores[labels[:, None] == labels].sum())


def proves(scores, labels):
    """Return whether dual values that prove the clustering are found."""
    return _prove(scores, labels, _begin(scores, labels), 20_000)


def partitions(n):
    """Labels of all partitions of n items, each once."""
    if n == 0:
        yield ()
        return
    for rest in partitions(n - 1):
        for label in range(max(rest, default=-1) + 2):
            yield (*rest, label)


def relaxed(scores):
    """The optimum of set partitioning's relaxation over all subsets."""
    n = len(scores)
    masks = np.array(list(itertools.product([0, 1], repeat=n)))[1:]
    worths = 0.5 * np.einsum("si,ij,sj->s", masks, scores, masks)
    return -linprog(-worths, A_eq=masks.T, b_eq=np.ones(n), bounds=(0, None)).fun


@st.composite
def matrices(draw, largest=6):
    n = draw(st.integers(1, largest))
    whole, broken = st.integers(-2, 2).map(float), st.floats(-2.0, 2.0).map(lambda value: round(value, 2))
    value = draw(st.sampled_from([whole, broken]))
    return symmetric(n, draw(st.lists(value, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)))


@given(matrices())
def test_settled_components_are_optimal(scores):
    n = len(scores)
    labels, settled, duals = settle(scores, np.arange(n))
    component = components(scores)
    for c in range(component.max() + 1):
        here = component == c
        assert len(set(settled[here])) == 1  # all of a component or nothing
        assert not set(labels[here]) & set(labels[~here])
        inner = scores[np.ix_(here, here)]
        best = max(score(inner, other) for other in partitions(int(here.sum())))
        assert score(inner, labels[here]) <= best + 1e-9
        if settled[here].all():
            assert score(inner, labels[here]) == pytest.approx(best, abs=1e-9)
            assert duals[here].sum() == pytest.approx(best, abs=1e-9)
            for members in itertools.product([False, True], repeat=len(inner)):
                chosen = np.flatnonzero(members)
                assert duals[here][chosen].sum() >= 0.5 * inner[np.ix_(chosen, chosen)].sum() - 1e-9
        else:
            assert not duals[here].any()
    assert [int(k) for k in dict.fromkeys(labels.tolist())] == list(range(labels.max() + 1))  # by first items


@given(matrices(5), st.data())
def test_a_proof_is_a_proof(scores, data):
    """Only a clustering that is worth the relaxation's optimum is proved."""
    labels = data.draw(st.sampled_from(list(partitions(len(scores)))))
    if proves(scores, np.array(labels)):
        assert score(scores, labels) == pytest.approx(relaxed(scores), abs=1e-7)


@pytest.mark.parametrize("seed", seeds(40))
def test_most_of_what_can_be_proved_is(seed):
    """Without ties, a best clustering that is worth the relaxation's optimum is proved."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    scores = symmetric(n, rng.normal(size=n * (n - 1) // 2))
    labels, value = local_search(scores, np.arange(n), kicks=100)
    tight = abs(value - relaxed(scores)) < 1e-9
    assert proves(scores, labels) == tight


def test_a_pentagon_is_not_proved():
    near = [(j - i) % 5 in (1, 4) for i in range(5) for j in range(i + 1, 5)]
    scores = symmetric(5, np.where(near, 1.0, -1.0))
    assert not proves(scores, np.array([0, 0, 1, 1, 2]))
    labels, settled, _ = settle(scores, np.arange(5))
    assert score(scores, labels) == 2.0
    assert not settled.any()


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0, 1], [0, 1, 1]])
def test_no_other_clustering_is_proved(labels):
    scores = symmetric(3, [1.0, 2.0, 1.0])
    assert not proves(scores, np.array(labels))
    assert proves(scores, np.zeros(3, dtype=np.int64))


def test_one_and_two_items_need_no_search():
    scores = symmetric(5, [1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -2.0])
    labels, settled, _ = settle(scores, np.arange(5), largest=0)
    assert labels.tolist() == [0, 0, 1, 2, 3]
    assert settled.all()


def test_large_components_are_left_alone():
    scores = np.ones((9, 9)) - np.eye(9)
    assert not settle(scores, np.arange(9), largest=8)[1].any()
    assert settle(scores, np.arange(9), largest=9)[1].all()
    hard = symmetric(12, np.random.default_rng(0).normal(size=66))
    assert not settle(hard, np.arange(12), nodes=1)[1].any()


def test_the_search_starts_from_the_clustering_given():
    rng = np.random.default_rng(0)
    scores = symmetric(20, rng.normal(size=190))
    best, value = local_search(scores, np.arange(20), kicks=500)
    labels, _, _ = settle(scores, best, kicks=0)
    assert score(scores, labels) == pytest.approx(value)
    assert labels.tolist() == best.tolist()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_scale_does_not_matter(seed, scale):
    rng = np.random.default_rng(seed)
    scores = symmetric(7, rng.normal(size=21))
    expected = settle(scores, np.arange(7))
    found = settle(scale * scores, np.arange(7))
    assert found[0].tolist() == expected[0].tolist()
    assert found[1].tolist() == expected[1].tolist()


def test_a_seed_determines_the_result():
    rng = np.random.default_rng(3)
    scores = symmetric(30, rng.normal(size=435))
    first, second = (settle(scores, np.arange(30), kicks=3, seed=7) for _ in range(2))
    assert first[0].tolist() == second[0].tolist()
    assert first[1].tolist() == second[1].tolist()
