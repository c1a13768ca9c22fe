"""Branching on numbers of paths and on arcs gives the optimum without cuts, fixing or enumeration."""

import pytest

from colgen import Method, decompose, solve
from tests.networks.programs import routing


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("graphs", [1, 2])
def test_the_tree_alone_is_complete(seed, graphs):
    model, best = routing(seed, graphs=graphs)
    problem = decompose(model)
    problem.separation = lambda: ()
    result = solve(problem, method=Method(heuristics=(), reductions=(), enumeration=()))
    assert result.is_optimal
    assert result.objective == pytest.approx(best)


@pytest.mark.parametrize("seed", range(4))
def test_fixing_of_arcs_loses_no_optimum(seed):
    model, best = routing(seed, graphs=2)
    result = solve(decompose(model), method=Method(enumeration=()))
    assert result.objective == pytest.approx(best)
