"""Colouring against enumeration, another formulation, and known values."""

import dataclasses

import networkx as nx
import numpy as np
import pytest

from colgen import PricingContext, Sense, Solution, solve
from colgen.branching.rules import DOWN, UP
from colgen.core.decision import Apart, Together
from colgen.core.errors import InfeasibleAnswerError
from colgen.fixing import ReductionContext
from colgen.master.statement import restricted_master
from colgen.problems.colouring import Colouring, ColouringInstance, from_networkx, mycielski, queens, random
from colgen.problems.colouring.branching import OnPairs
from colgen.problems.colouring.enumeration import StableSetEnumeration
from colgen.problems.colouring.model import full
from colgen.problems.colouring.pricing import StableSetOracle
from colgen.problems.colouring.reduction import reduce_graph
from colgen.problems.colouring.zykov import VERTEX, maximal, round_up, zykov
from colgen.reporting.compared import solve_complete
from tests.solvers.graphs.small_graphs import graph, stable_sets
from tests.twins.colouring import fewest_colours


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_agree_with_enumeration(seed):
    instance = random(14, seed, density=0.2 + 0.1 * seed)
    result = solve(Colouring(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == result.objective == fewest_colours(instance)


@pytest.mark.parametrize("formulation", ["representatives", "assignment"])
def test_the_complete_models_agree(formulation):
    assert round(solve_complete(full(mycielski(4), formulation)).objective) == 4


@pytest.mark.parametrize(
    ("instance", "colours"), [(queens(6), 7), (queens(7), 7), (mycielski(5), 5), (mycielski(6), 6)]
)
def test_known_graphs(instance, colours):
    result = solve(Colouring(instance))
    assert result.is_optimal
    assert instance.check(result.answer) == colours == result.dual_bound


class _ByTheTree(Colouring):
    """Neither enumeration nor tabu search: only branching."""

    def method(self):
        return dataclasses.replace(super().method(), heuristics=(), enumeration=())


def test_the_tree_alone_proves_the_same():
    instance = random(30, 0)
    assert solve(_ByTheTree(instance)).objective == solve(Colouring(instance)).objective
    tree = solve(_ByTheTree(mycielski(4)))
    assert (tree.is_optimal, tree.objective) == (True, 4.0)
    assert len(tree.nodes) > 1


@pytest.mark.parametrize("seed", range(6))
def test_the_search_by_vertices_finds_the_optimum_of_a_node(seed):
    instance = random(9, seed, density=0.4)
    oracle = StableSetOracle(range(9), instance.adjacency)
    strangers = np.argwhere(np.triu(~oracle.adjacency, 1))
    (u, v), (s, t) = (tuple((VERTEX, oracle.vertices[k]) for k in pair) for pair in strangers[[0, -1]])
    decisions = (Together(u, v), Apart(s, t))
    told = PricingContext(Sense.MINIMIZE, decisions=decisions)
    merged = zykov(oracle.vertices, oracle.adjacency, told).adjacency
    edges = tuple((int(a), int(b)) for a, b in np.argwhere(np.triu(merged)))
    needed = fewest_colours(ColouringInstance(len(merged), edges))
    for target in (needed - 1.0, float(needed)):
        context = ReductionContext(Sense.MINIMIZE, None, 1.0, target, decisions)
        listed = StableSetEnumeration(oracle).enumerate(context)
        assert len(listed.columns) == (needed if target == needed else 0)
        assert all(told.allows(column) for column in listed.columns)
        covered = {vertex for column in listed.columns for vertex in column.structure}
        assert target < needed or covered == set(oracle.vertices)


def test_graphs_solved_by_reduction():
    for instance, colours in (
        (ColouringInstance(1, ()), 1),
        (ColouringInstance(5, ()), 1),
        (from_networkx(nx.complete_graph(6)), 6),
        (from_networkx(nx.cycle_graph(8)), 2),
        (from_networkx(nx.star_graph(9)), 2),
    ):
        result = solve(Colouring(instance))
        assert result.is_optimal
        assert instance.check(result.answer) == colours


@pytest.mark.parametrize("seed", range(10))
def test_removed_vertices_are_coloured_afterwards(seed):
    instance = random(10, seed, density=0.35)
    left = reduce_graph(instance.adjacency)
    inner = instance.adjacency[np.ix_(left.kept, left.kept)]
    part = ColouringInstance(len(left.kept), tuple((int(u), int(v)) for u, v in np.argwhere(np.triu(inner))))
    assert fewest_colours(part) == fewest_colours(instance)
    whole = left.extend(instance.adjacency, solve(Colouring(part)).answer)
    assert instance.check(whole) == fewest_colours(instance)


def test_dual_values_are_rounded_up():
    for duals in (np.random.default_rng(0).random(50), np.array([1e-9, 3e-9]), np.array([1e9, 0.1]), np.zeros(2)):
        whole, scale = round_up(duals)
        assert (whole / scale >= duals).all()
        assert whole / scale == pytest.approx(duals, rel=1e-9, abs=1e-11 * duals.max(initial=0.0))


def test_the_graph_of_a_node_has_the_stable_sets_that_decisions_allow():
    adjacency = graph(7, 0.3, 1)
    strangers = [(u, v) for v in range(7) for u in range(v) if not adjacency[u, v]]
    joined, parted = strangers[0], strangers[3]
    decisions = (
        Together(("vertex", joined[0]), ("vertex", joined[1])),
        Apart(("vertex", parted[0]), ("vertex", parted[1])),
    )
    node = zykov(range(7), adjacency, PricingContext(Sense.MINIMIZE, decisions=decisions))
    allowed = {
        tuple(s) for s in stable_sets(adjacency) if (joined[0] in s) == (joined[1] in s) and not set(parted) <= set(s)
    }
    merged = [np.isin(np.arange(len(node.groups)), s) for s in stable_sets(node.adjacency)]
    assert {tuple(np.flatnonzero(row)) for row in node.places(np.array(merged))} == allowed
    for members in maximal(node.adjacency, np.eye(len(node.groups), dtype=bool)):
        assert not node.adjacency[np.ix_(members, members)].any()
        assert (members | node.adjacency[members].any(axis=0)).all()


def test_children_cut_off_a_solution_that_covers_twice():
    encode = Colouring(queens(4)).oracle.encode
    solution = Solution(2.0, ((encode([0, 6]), 0.6), (encode([0, 9]), 0.9), (encode([6, 9]), 0.5)))
    children = OnPairs().branch(solution)
    assert len(children) == 2
    for (decision,) in children:
        assert any(not decision.allows(column) for column, _ in solution.columns)


@pytest.mark.parametrize("seed", range(6))
def test_every_candidate_splits_all_colourings_and_cuts_the_relaxation_off(seed):
    instance = random(12, seed, density=0.5)
    oracle = StableSetOracle(list(range(12)), instance.adjacency)
    rng = np.random.default_rng(seed)
    sets = [s for s in stable_sets(instance.adjacency) if len(s) > 1]
    some = [sets[k] for k in rng.choice(len(sets), size=10, replace=False)]
    solution = Solution(1.0, tuple((oracle.encode(s), float(rng.uniform(0.05, 0.95))) for s in some))
    candidates = OnPairs().candidates(solution)
    assert candidates
    assert [c.score for c in candidates] == sorted((c.score for c in candidates), reverse=True)
    assert OnPairs().branch(solution) == candidates[0].children
    for candidate in candidates:
        u, v = candidate.quantity
        keys = (VERTEX, u), (VERTEX, v)
        assert {type(decision): (decision.first, decision.second) for (decision,) in candidate.children} == {
            Together: keys,
            Apart: keys,
        }
        value = sum(x for column, x in solution.columns if {u, v} <= set(column.structure))
        for (decision,), move in zip(candidate.children, candidate.moves, strict=False):
            together = isinstance(decision, Together)
            assert move == (UP if together else DOWN, pytest.approx(1.0 - value if together else value))
            assert any(not decision.allows(column) for column, _ in solution.columns)


@pytest.mark.parametrize(("n", "value"), [(5, 5 / 2), (7, 7 / 3)])
def test_a_requested_relaxation_is_solved_even_if_a_weaker_bound_rounds_up_to_the_incumbent(n, value):
    result = solve(Colouring(from_networkx(nx.cycle_graph(n))), relaxation=True)
    assert result.is_optimal
    assert result.objective == pytest.approx(value) == pytest.approx(result.dual_bound)


def test_dual_values_near_zero_are_priced():
    problem = Colouring(from_networkx(nx.cycle_graph(5)))
    duals = restricted_master(problem.master()).rows.guess({VERTEX: np.full(5, 1e-9)})
    result = problem.pricing().price(duals, PricingContext(Sense.MINIMIZE))
    assert not len(result.columns)
    assert 0.0 < result.bound <= 1.0 - 2e-9


def test_wrong_answers_raise():
    with pytest.raises(InfeasibleAnswerError, match="same colour"):
        Colouring(queens(4)).check([0] * 16)
