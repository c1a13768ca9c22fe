"""Column enumeration: nodes that a list of all columns of interest closes."""

import itertools

import pytest

from colgen import Enumerated, Enumeration, solve
from tests.zoo import Listed, Partitioning


class EveryColumn(Enumeration):
    """All columns whose reduced cost an answer of interest can afford."""

    def __init__(self, problem, most=None):
        self.problem, self.most = problem, most
        self.asked = 0

    def enumerate(self, context):
        self.asked += 1
        oracle = Listed(self.problem)
        cover, branch = context.duals["cover"], dict(context.duals.items("branch"))
        assert not branch
        columns = [
            oracle.encode(s)
            for s in self.problem.costs
            if context.sense.improvement(0.0, self.problem.costs[s] - sum(cover[i] for i in s)) <= context.slack
        ]
        columns = [column for column in columns if all(d.allows(column) for d in context.decisions)]
        return None if self.most is not None and len(columns) > self.most else Enumerated(columns)


class Enumerating(Partitioning):
    most = None

    def enumeration(self):
        self.lister = EveryColumn(self, self.most)
        return self.lister


@pytest.mark.parametrize(("size", "maximize"), list(itertools.product((7, 9), (False, True))))
def test_a_complete_list_closes_the_root(size, maximize):
    plain = solve(Partitioning(size=size, maximize=maximize, cuts=False))
    problem = Enumerating(size=size, maximize=maximize, cuts=False)
    result = solve(problem)
    assert plain.is_optimal
    assert result.is_optimal
    assert result.objective == pytest.approx(plain.objective)
    assert problem.lister.asked
    assert len(result.nodes) <= len(plain.nodes)


def test_too_long_a_list_leaves_the_node_to_branching():
    class Short(Enumerating):
        most = 0

    problem = Short(size=9, cuts=False)
    result = solve(problem)
    assert result.is_optimal
    assert problem.lister.asked > 1
    assert result.objective == pytest.approx(solve(Partitioning(size=9, cuts=False)).objective)
