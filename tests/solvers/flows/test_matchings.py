"""Best matchings compared with all injections of rows into columns."""

import itertools

import numpy as np
import pytest

from colgen.solvers.arrays import ArrayError
from colgen.solvers.flows.matchings import best_matching, k_best_matchings


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 4), (3, 5)])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_matchings_are_those_of_enumeration(shape, forbidden):
    rng = np.random.default_rng(0)
    rows = np.arange(shape[0])
    for _ in range(10):
        scores = np.where(rng.random(shape) < forbidden, -np.inf, rng.integers(-2, 3, size=shape))  # many ties
        values = [scores[rows, x].sum() for x in itertools.permutations(range(shape[1]), shape[0])]
        order = sorted((value for value in values if value > -np.inf), reverse=True)
        found = best_matching(scores)
        assert (found is None) == (not order)
        if found is not None:
            assert found[0] == order[0] == scores[rows, found[1]].sum()
        ranked = k_best_matchings(scores, 1000)
        assert [value for value, _ in ranked] == order
        assert len({tuple(chosen) for _, chosen in ranked}) == len(order)
        assert all(scores[rows, chosen].sum() == value for value, chosen in ranked)


def test_large_scores():
    scores = 4e307 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert best_matching(scores)[0] == 8e307
    assert best_matching(-scores)[0] == 8e307
    with pytest.raises(ArrayError, match=r"at most 5e\+307, since a structure adds up to 2 of them, got 6e\+307"):
        best_matching(1.5 * scores)


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (3, 2)])
def test_shapes_are_refused(shape):
    for call in (best_matching, lambda scores: k_best_matchings(scores, 1)):
        with pytest.raises(ArrayError, match="at least as many columns"):
            call(np.zeros(shape))
