"""Sets of arcs that occur together in some tree, compared with enumeration."""

from itertools import combinations

import numpy as np
import pytest

from colgen.problems.nonlocal_parsing.kernels import factor_sets
from colgen.solvers.trees.eisner import Parts, best_tree
from tests.solvers.projective import all_trees


def mask(heads):
    allowed = np.zeros((len(heads), len(heads)), dtype=bool)
    allowed[heads[1:], np.arange(1, len(heads))] = True
    return allowed


def rows(found):
    listed = [tuple(row) for row in found.tolist()]
    assert len(set(listed)) == len(listed)
    return set(listed)


def chains(heads, length):
    found = set()
    for m in range(1, len(heads)):
        row = [m]
        while len(row) < length and row[-1] != 0:
            row.append(heads[row[-1]])
        if len(row) == length:
            found.add(tuple(row[::-1]))
    return found


def fans(heads, count):
    n = len(heads)
    modifiers = {h: [m for m in range(1, n) if heads[m] == h] for h in range(n)}
    return {(h, *chosen) for h in modifiers for chosen in combinations(modifiers[h], count)}


EXPECTED = {
    factor_sets.grandchildren: lambda heads: chains(heads, 3),
    factor_sets.great_grandchildren: lambda heads: chains(heads, 4),
    factor_sets.siblings: lambda heads: fans(heads, 2),
    factor_sets.tri_siblings: lambda heads: fans(heads, 3),
}


@pytest.mark.parametrize(("kernel", "expected"), EXPECTED.items(), ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("single_root", [True, False])
def test_sets_of_arcs_agree_with_enumeration(kernel, expected, single_root):
    """For one tree, exactly its sets; for all arcs, exactly the sets of projective trees."""
    trees = all_trees(5, single_root=single_root).tolist()
    some = set()
    for heads in trees:
        assert rows(kernel(mask(heads))) == expected(heads)
        some |= expected(heads)
    if not single_root:
        allowed = np.ones((6, 6), dtype=bool)
        allowed[:, 0] = False
        np.fill_diagonal(allowed, False)
        assert some == rows(kernel(allowed))


def test_combs_are_four_words_in_a_row_with_one_head():
    heads = [-1, 6, 6, 6, 6, 6, 0, 6, 6]
    assert rows(factor_sets.combs(mask(heads), 4)) == {(6, 1, 2, 3, 4), (6, 2, 3, 4, 5)}
    assert rows(factor_sets.combs(mask(heads), 5)) == {(6, 1, 2, 3, 4, 5)}
    assert not rows(factor_sets.combs(mask(heads), 6))  # the head is not among the words, 7 and 8 are not four


@pytest.mark.parametrize("single_root", [True, False])
def test_local_parts_of_trees(single_root):
    """The parts of a tree are those that its score counts."""
    n = 5
    zeros = np.zeros((n + 1, n + 1))
    everything = np.ones((n + 1, n + 1), dtype=bool)
    everything[:, 0] = False
    np.fill_diagonal(everything, False)
    adjacent = rows(factor_sets.adjacent_siblings(everything))
    outermost = rows(factor_sets.outermost_grandchildren(everything))
    for heads in all_trees(n, single_root=single_root):
        siblings = np.full((n + 1,) * 3, -1000.0)
        found = factor_sets.tree_adjacent_siblings(heads)
        siblings[tuple(found.T)] = 1.0
        grand = np.full((n + 1,) * 3, -1000.0)
        children = factor_sets.tree_outermost_grandchildren(heads)
        grand[tuple(children.T)] = 1.0
        assert Parts(zeros, siblings).score(heads) == n
        assert Parts(zeros, outermost=grand).score(heads) == 2 * n
        assert rows(found) <= adjacent
        assert set(map(tuple, children.tolist())) <= outermost
    value, best = best_tree(Parts(zeros, siblings, grand), single_root=single_root)
    assert value == 3 * n
    assert best.tolist() == heads.tolist()
