"""The checker's trees against enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from colgen.certificate.checker_pricing import NO, CheckerState, WrongError
from colgen.certificate.checker_trees import TreePricing
from colgen.problems.dependency.exact import potentials


def trees(seed, projective, single, words=4):
    chance = np.random.default_rng(seed)
    size = words + 1
    arcs = chance.integers(-9, 10, (size, size)).tolist()
    for h, m in chance.integers(0, size, (3, 2)).tolist():
        arcs[h][m] = None
    data = {"denominator": 1, "single_root": single, "projective": projective, "arcs": arcs, "grandparents": None}
    return TreePricing(0, {**data, "factors": []}, 0)


def potentials_of(arcs, single):
    there = np.array([[x != NO for x in row] for row in arcs])
    return potentials(np.array([[0 if x == NO else x for x in row] for row in arcs]), there, single)[0]


def best_of(checked):
    """Return the best tree, or None."""
    values = []
    for heads in product(range(checked.size), repeat=checked.size - 1):
        try:
            values.append(checked.column(list(heads))[0])
        except WrongError:
            continue
    return max(values, default=None)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_tree_is_that_of_enumeration(seed, projective, single):
    checked = trees(seed, projective, single)
    given = {"factors": []} if projective else {"factors": [], **potentials_of(checked.arcs, single)}
    least = checked.least((), Fraction(-1), {}, CheckerState(given=given))
    assert -least == best_of(checked)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("projective", [True, False])
def test_infeasibility_is_proved_without_costs(projective, single):
    checked = trees(0, projective, single)
    for closed in (
        frozenset(),
        frozenset((h, 2) for h in range(5)),  # no head for a word
        frozenset((0, m) for m in range(5)),  # no arc from the root
        frozenset((h, m) for h in range(1, 5) for m in range(5)),  # only arcs from the root
        frozenset((h, m) for h in (0, 3, 4) for m in (1, 2)),  # a cycle of two words
    ):
        left = trees(0, projective, single)
        for h, m in closed:
            left.arcs[h][m] = NO
        same = [[x if x == NO else 0 for x in row] for row in left.arcs]
        given = None if projective else potentials_of(same, single)
        empty = checked.least((), Fraction(0), {}, CheckerState(closed=closed, given=given))
        assert empty == (best_of(left) is None)


@pytest.mark.parametrize("heads", [[0], [2, 1, 0, 0], [0, 9, 0, 0], [0, -1, 0, 0]])
def test_invalid_trees_are_refused(heads):
    with pytest.raises(WrongError):
        trees(1, False, False).column(heads)
