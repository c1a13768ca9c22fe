"""Factors as arrays, and polynomials as factors."""

from itertools import product

import numpy as np
import pytest

from colgen import InputError
from colgen.problems.nonlocal_parsing import Factors, either, valency
from colgen.problems.nonlocal_parsing.kernels.products import value
from tests.problems.nonlocal_parsing.trees import answers, plain


def test_from_arcs_and_back():
    listed = [(((0, 1), (1, 2)), 1.5), (((2, 3),), -1.0)]
    factors = Factors.of(4, listed)
    assert len(factors) == 2
    assert list(factors) == listed
    assert factors.arcs.tolist() == [1, 6, 11]
    assert len(Factors.of(4)) == 0


def test_sets_of_equally_many_arcs():
    factors = Factors.from_rows(
        4, [(np.array([[1, 6], [2, 9]]), np.array([1.0, 2.0])), (np.array([[1, 6, 7]]), np.array([-1.0]))]
    )
    assert factors.start.tolist() == [0, 2, 4, 7]
    assert [score for _, score in factors] == [1.0, 2.0, -1.0]
    assert len(Factors.from_rows(4, [])) == 0
    with pytest.raises(InputError, match="finite"):
        Factors.from_rows(4, [(np.array([[1, 6]]), np.array([np.nan]))])


@pytest.mark.parametrize(
    ("members", "score", "sentence"),
    [
        ([(0, 1), (0, 1)], 1.0, "twice"),
        ([(1, 1)], 1.0, "not to the root"),
        ([(1, 0)], 1.0, "positions"),
        ([(1, 9)], 1.0, "positions"),
        ([], 1.0, "at least one arc"),
        ([(0, 1)], np.nan, "finite"),
        ([(0, 1)], np.inf, "finite"),
    ],
)
def test_invalid_factors_raise(members, score, sentence):
    with pytest.raises(InputError, match=sentence):
        Factors.of(4, [(((0, 2),), 1.0), (members, score)])


def test_either_of_two_arcs():
    for first, second in product([(0, 1), (1, 2), (3, 2)], repeat=2):
        instance = plain(3, either(first, second, 2.0))
        for heads in answers(instance):
            has = any(heads[m - 1] == h for h, m in (first, second))
            assert instance.objective(heads) == pytest.approx(2.0 * has)


@pytest.mark.parametrize("count", range(5))
def test_valency(count):
    """How many modifiers word 2 has."""
    arcs = [(2, 1), (2, 3), (2, 4)]
    factors, constant = valency(arcs, count, 1.5)
    instance = plain(4, factors)
    for heads in answers(instance):
        has = sum(heads[m - 1] == h for h, m in arcs)
        assert instance.objective(heads) + constant == pytest.approx(1.5 * (has == count))


def test_valency_omits_arcs_that_exclude_each_other():
    factors, _ = valency([(1, 2), (3, 2), (3, 1)], 1, 1.0)
    assert all(len({m for _, m in arcs}) == len(arcs) for arcs, _ in factors)
    everything = Factors.of(4, factors)
    for heads in answers(plain(3)):
        tree = np.array([-1, *heads])
        has = sum(heads[m - 1] == h for h, m in [(1, 2), (3, 2), (3, 1)])
        assert value(everything.start, everything.arcs, everything.scores, tree) == pytest.approx(float(has == 1))
