"""Integer tree scores: the checker confirms the bounds of potentials, in 64 bits and beyond."""

from fractions import Fraction

import numpy as np
import pytest

from colgen.certificate.checker_pricing import CheckerState
from colgen.certificate.checker_trees import TreePricing
from colgen.problems.dependency.exact import IntegerScores, TreeScores


@pytest.mark.parametrize("finest", [0, -70])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_checker_confirms_bounds_of_potentials(seed, projective, finest):
    chance, size = np.random.default_rng(seed), 5
    arcs = chance.integers(-9, 10, (size, size)).astype(float)
    arcs[2, 1] = -np.inf
    arcs[0, 1] += 2.0**finest
    chains = chance.integers(-3, 4, (size, size, size)).astype(float)
    chains[2, 3, 1] = -np.inf
    factors = [([(0, 1), (1, 2)], 2.0), ([(1, 3), (3, 4), (1, 2)], -3.0)]
    scores = IntegerScores(TreeScores(arcs, chains, factors, bool(seed % 2), projective))
    checked = TreePricing(0, scores.data, 0)
    heads = [0, 1, 1, 3]
    assert Fraction(scores.total(heads), checked.unit) == checked.column(heads)[0]
    potentials = chance.integers(-3, 4, (size, size)) + 2.0**finest
    for tree in (None, np.array([-1, *heads])):
        bound, given = scores.bound(potentials, chance.random(5), {(4, 3)}, tree)
        found = checked.least((), Fraction(-1), {}, CheckerState(closed=frozenset({(4, 3)}), given=given))
        assert found == -Fraction(bound, checked.unit)
