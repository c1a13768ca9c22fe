"""Final programs over all paths within the gap, with arcs fixed by their reduced costs: a small routing problem."""

from __future__ import annotations

import pytest

import colgen
from tests.pricing.test_labelling import Routing, arcs_of

pytestmark = pytest.mark.timeout(120)


class Reduced(Routing):
    """With arcs fixed by their reduced costs, and final programs over all paths within the gap."""

    def __init__(self, seed: int, **how) -> None:
        super().__init__(seed, **how)
        self.oracle = super().pricing()
        self.enumerated = []

    def pricing(self):
        return self.oracle

    def reductions(self):
        return (colgen.ReducedCostFixing(self.oracle.exactly(), arcs_of, "arc", share=0.0),)

    def enumeration(self):
        return Noted(self.oracle, self.enumerated)


class Noted(colgen.PathEnumeration):
    def __init__(self, oracle, lists) -> None:
        super().__init__(oracle)
        self.lists = lists

    def enumerate(self, context):
        self.lists.append(super().enumerate(context))
        return self.lists[-1]


@pytest.mark.parametrize("by", ["arc", "pair"])
def test_fixed_arcs_and_listed_paths_end_at_the_optimum(by: str) -> None:
    listed = 0
    for seed in (0, 1, 2, 6):
        problem = Reduced(seed, by=by, cuts=seed == 2)
        result = colgen.solve(problem)
        assert result.is_optimal
        assert result.objective == pytest.approx(problem.optimum())
        listed += sum(found is not None for found in problem.enumerated)
    assert listed or by == "pair"


def test_paths_are_not_listed_where_arcs_touch_rows() -> None:
    plain = Routing(0).pricing()
    oracle = colgen.Labelling(plain.solver, plain.costs, plain.vertex_rows, arc_rows=[(0, ("noise", 0), 1.0)])
    with pytest.raises(colgen.InputError, match="without arc_rows"):
        colgen.PathEnumeration(oracle)
