"""The published method starts from the basis of the best first-order tree."""

import numpy as np
import pytest

from colgen import LinearMaster, solve
from colgen.model.rows import compile_model
from colgen.problems.grandparent_parsing import GrandparentInstance, GrandparentParsing, random
from colgen.problems.grandparent_parsing.model import full
from tests.problems.grandparent_parsing.trees import all_trees


def around(heads, seed, single_root):
    """Scores: low for arcs, high for arcs of a tree, and intermediate for parts."""
    rng, size = np.random.default_rng(seed), len(heads) + 1
    arcs = rng.normal(size=(size, size))
    arcs[heads, np.arange(1, size)] += 12.0
    return GrandparentInstance(arcs, rng.normal(size=(size, size, size)), single_root=single_root)


@pytest.mark.parametrize("connectivity", ["cuts", "flow"])
@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_pivot_if_the_first_tree_is_optimal(seed, single_root, connectivity):
    """One linear program, optimal at its first basis, and one round that proves it."""
    heads = (3, 1, 0, 3, 6, 4, 6)
    problem = GrandparentParsing(around(heads, seed, single_root), start="parts", connectivity=connectivity)
    result = solve(problem, relaxation=True)
    assert problem.answer(result.solution) == heads
    assert result.dual_bound == pytest.approx(result.objective) == problem.check(heads)
    assert len(result.iterations) == 1
    assert problem._master.lp.simplex_iterations == 0


@pytest.mark.parametrize("seed", range(6))
def test_any_first_tree_gives_the_same_optimum(seed, monkeypatch):
    """Starts from the worst tree."""
    instance = random(6, seed, strength=2.0)
    problem = GrandparentParsing(instance, siblings=False, start="parts", connectivity="flow")
    monkeypatch.setattr(problem, "_first_tree", lambda: tuple(range(6)))
    complete = LinearMaster(compile_model(full(instance, "all", connectivity="flow", siblings=False))).solve()
    result = solve(problem, relaxation=True)
    assert result.objective == pytest.approx(complete.objective)
    assert result.dual_bound == pytest.approx(complete.objective)


def test_no_first_basis_without_a_tree():
    scores = np.full((4, 4), -np.inf)
    scores[1, 2] = scores[2, 1] = scores[1, 3] = 1.0
    problem = GrandparentParsing(GrandparentInstance(scores, np.zeros((4, 4, 4))), start="parts", connectivity="flow")
    assert not solve(problem, relaxation=True).is_optimal
    assert problem.first is None


def test_arcs_are_not_fixed_at_dual_values_of_trees():
    """The guess proves a better bound than the master's dual values, which are from a tightened relaxation."""
    arcs, parts = np.zeros((4, 4)), np.zeros((4, 4, 4))
    arcs[[0, 1, 3, 3], [3, 3, 1, 2]] = 3, 2, 3, 3
    parts[[0, 1, 2, 3, 3], [3, 3, 1, 2, 3], [1, 2, 3, 1, 2]] = -2, 2, 1, 1, 3
    instance = GrandparentInstance(1e-5 * arcs, 1e-5 * parts)
    problem = GrandparentParsing(instance, start="dual", tighten=True)
    problem.iterations = 100
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(max(map(instance.objective, all_trees(3))))
