"""The search against enumeration."""

import numpy as np
import pytest

from problems.grandparent_parsing.kernels.second_order import search
from problems.grandparent_parsing.kernels.tree_parts import given_parts
from tests.problems.grandparent_parsing.kernels.test_arc_prices import bounds_of
from tests.problems.grandparent_parsing.kernels.test_automata_dual import scores, trees, worth


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("strength", [0.2, 1.0])
def test_search_is_right_about_what_it_proves(seed, strength):
    n = 4
    arcs, grandparents, siblings = scores(seed, n)
    grandparents, siblings = strength * grandparents, strength * siblings
    best = max(worth(arcs, grandparents, siblings, heads) for heads in trees(n))
    parts = given_parts(n + 1, grandparents, siblings)
    heads, score, upper, allowed, counts = search(arcs, bounds_of(grandparents, siblings), parts, False, 1, 30, 20, 1.0)
    assert score == pytest.approx(worth(arcs, grandparents, siblings, heads))
    assert score <= best + 1e-9 <= upper + 2e-9
    assert counts[0] >= n
    for tree in trees(n):  # a better tree has arcs that are allowed
        if worth(arcs, grandparents, siblings, tree) > score + 1e-6:
            assert allowed[tree[1:], np.arange(1, n + 1)].all()
