"""Rounding: a tree near a fractional solution that no change of one head to another used one improves."""

import numpy as np
import pytest

from colgen import solve
from colgen.problems.grandparent_parsing import GrandparentParsing, random
from colgen.problems.grandparent_parsing.rounding import TreeRounding
from colgen.problems.grandparent_parsing.separation import arc_values
from tests.problems.grandparent_parsing.trees import is_tree


class Context:
    def __init__(self, relaxation):
        self.relaxation = relaxation


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("siblings", [False, True])
def test_no_single_change_improves_the_tree(single_root, siblings):
    fractional = 0
    for seed in range(25):
        instance = random(6, seed, strength=2.5, single_root=single_root, siblings=siblings)
        problem = GrandparentParsing(instance, start="tree")
        relaxation = solve(problem, relaxation=True).solution
        z = arc_values(relaxation, 6)
        fractional += bool(np.abs(z - z.round()).max() > 1e-6)
        found = TreeRounding(problem).search(Context(relaxation))
        heads = problem.answer(found)
        assert instance.check(heads) == pytest.approx(found.objective)
        assert problem.standard_score(heads) + problem.offset == pytest.approx(found.objective)
        assert found.objective <= relaxation.objective + 1e-6
        for h, m in np.argwhere(z > 1e-6).tolist():
            other = (*heads[: m - 1], h, *heads[m:])
            if is_tree(other) and not (single_root and other.count(0) != 1):
                assert instance.objective(other) <= found.objective + 1e-6
    assert fractional
