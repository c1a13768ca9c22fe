"""The theorem on the prices of arcs that are no candidates, against enumeration."""

import numpy as np
import pytest

from solvers.arc_prices import Bounds, price_arcs
from solvers.automata_dual import relax
from solvers.head_automata import optimistic
from solvers.second_order import narrowed
from solvers.tree_parts import automata_of, given_parts
from tests.solvers.test_automata_dual import scores, trees, worth


def bounds_of(grandparents, siblings):
    n = len(grandparents) - 1
    vertices = np.arange(n + 1)
    most = grandparents.max(axis=0)
    most[0] = 0.0
    last = np.ascontiguousarray(siblings[vertices, :, vertices])
    return Bounds(most, siblings.max(axis=1), last, np.zeros((n + 1, n + 1), dtype=np.bool_))


@pytest.mark.parametrize("single_root", [False, True])
def test_better_trees_have_no_arc_that_is_too_expensive(single_root):
    n, held = 4, 0
    for seed in range(80):
        arcs, grandparents, siblings = scores(seed, n)
        grandparents, siblings = 0.2 * grandparents, 0.2 * siblings
        parts = given_parts(n + 1, grandparents, siblings)
        candidates = narrowed(arcs, 2)
        a = automata_of(candidates, arcs, parts)
        alive = np.ones(len(a.heads), dtype=np.bool_)
        leaving, entering, best = optimistic(a, alive), np.zeros(len(alive)), np.full(n + 1, -1)
        _, lower, _ = relax(a, alive, leaving, entering, -np.inf, best, 20, single_root, False)
        if lower == -np.inf:
            continue
        bounds = bounds_of(grandparents, siblings)
        bound, short, _, _ = price_arcs(a, leaving, entering, arcs, bounds, parts, single_root, lower)
        assert not (short & candidates).any()
        # Those given up become candidates; a theorem about the others is what is left.
        if short.any():
            continue
        held += 1
        for heads in trees(n):
            if single_root and (heads[1:] == 0).sum() != 1:
                continue
            value = worth(arcs, grandparents, siblings, heads)
            new = (~candidates[heads[1:], np.arange(1, n + 1)]).sum()
            assert value <= bound - new * max(bound - lower, 0.0) + 1e-6
    assert held >= 10
