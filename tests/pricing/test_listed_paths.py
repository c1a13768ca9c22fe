"""Oracles that are restricted to lists of paths find the optima of all paths."""

import dataclasses
import math

import numpy as np
import pytest

from colgen import Column, Method, RankOne, Rows, Sense, Solution, WarmStart, decompose, solve
from colgen.core.decision_data import DecisionWriter
from colgen.cuts.separation import SeparationContext
from colgen.enumeration import PathListing
from colgen.master.statement import restricted_master
from colgen.networks import Elementary, Neighbourhoods
from colgen.networks.branching import ArcFixing
from colgen.networks.pricing import PATHS, VISITS_OF_GRAPH
from colgen.pricing.listed_paths import PathsListed
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing.instance import random
from tests.networks.programs import routing


class Listing(PathListing):
    """Lists paths at any gap, and keeps the decisions."""

    def __init__(self, oracles):
        super().__init__(oracles, gap=math.inf)
        self.made = []

    def reduce(self, context):
        found = super().reduce(context)
        self.made += found
        return found


def with_listing(problem, oracles, columns, *others, kind=Listing):
    """Return the listing of a problem that starts from given columns, which are an answer, without enumeration."""
    listing = kind(oracles)
    method = dataclasses.replace(problem.method(), reductions=(listing, *others), enumeration=None, heuristics=())
    answer = Solution(sum(column.cost for column in columns), [(column, 1.0) for column in columns])
    problem.method = lambda: method
    problem.warm_start = lambda budget: WarmStart(answers=[answer])
    return listing


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("graphs", [1, 2])
@pytest.mark.parametrize("skew", [0, 6])
@pytest.mark.parametrize("rules", [(Elementary(),), (Neighbourhoods(2),)])
def test_trees_over_lists_are_complete(seed, graphs, skew, rules):
    model, best = routing(seed, customers=6, graphs=graphs, skew=skew, rules=rules)
    problem = decompose(model)
    if seed % 2:
        problem.separation = lambda: ()
    alone = [problem.path("type_0", (0, i, 0)) for i in range(1, 7)]
    listing = with_listing(problem, problem._priced, alone, ArcFixing(problem._priced, widest=10.0))
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(best)
    assert listing.made or len(result.nodes) == 1


class ListingBelow(Listing):
    """Lists paths only below a branching decision."""

    def reduce(self, context):
        below = any(decision.exhaustive for decision in context.decisions)
        found = super().reduce(context) if below else ()
        assert not found or all(
            each.key[0] in (PATHS, VISITS_OF_GRAPH) for each in context.decisions if each.exhaustive
        )
        return found


def test_trees_with_lists_below_decisions_on_visits_are_complete():
    made = 0
    for seed in range(12):
        model, best = routing(seed, customers=6, graphs=2, skew=6 * (seed % 2), rules=(Neighbourhoods(2),))
        problem = decompose(model)
        problem.separation = lambda: ()
        alone = [problem.path("type_0", (0, i, 0)) for i in range(1, 7)]
        listing = with_listing(problem, problem._priced, alone, kind=ListingBelow)
        result = solve(problem)
        assert result.is_optimal
        assert result.objective == pytest.approx(best)
        made += len(listing.made)
    assert made


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("cuts", [False, True])
def test_routes_over_lists(seed, windows, cuts):
    instance = random(seed, customers=9, windows=windows)
    expected = solve(VehicleRouting(instance), method=Method(reductions=(), enumeration=()))
    problem = VehicleRouting(instance, cuts=cuts)
    oracles, alone = problem.pricing(), [problem.column([i]) for i in instance.customers]
    listing = with_listing(problem, oracles, alone, ArcFixing(oracles, widest=10.0))
    result = solve(problem)
    assert result.is_optimal
    assert result.objective == pytest.approx(expected.objective)
    assert listing.made or len(result.nodes) == 1
    for decision in listing.made:
        customers = {frozenset(decision.routes.network.heads[part[:-1]].tolist()) for part in _paths(decision)}
        assert len(customers) == len(decision)  # the cheapest path over each set


def _paths(decision):
    return [decision.arcs[i:j] for i, j in zip(decision.starts, decision.starts[1:], strict=False)]


def test_a_list_allows_columns_over_the_same_vertices_only():
    model, _ = routing(1, customers=4, skew=6)
    problem = decompose(model)
    oracle = problem.oracles[0]
    steps = oracle.block_of_paths.follow(problem.path("type_0", (0, 1, 2, 0)).structure.arcs)
    decision = PathsListed(0, np.array([0, 3]), steps, problem.oracles)
    columns = [problem.path("type_0", stops) for stops in ((0, 1, 2, 0), (0, 2, 1, 0), (0, 1, 0), (0, 3, 0))]
    assert [decision.allows(column) for column in columns] == [True, True, False, False]
    assert decision.allows(Column(1.0, {}, structure="no path"))
    assert str(decision) == "1 path listed"
    writer = DecisionWriter([PathListing(problem.oracles)])
    again = writer.read(writer.data(decision))
    assert again.arcs.tolist() == decision.arcs.tolist()
    assert again.allows(columns[1])


def test_cuts_over_lists_have_no_memory():
    """It limits what labels remember, and a list has no labels."""
    separation = RankOne("visit", order=lambda column: column.structure, least=0.0)
    rows = Rows(Sense.MINIMIZE)
    rows.add_rows("visit", [1, 2, 3], lower=1.0, upper=1.0)
    separation.suit(restricted_master(rows))
    columns = [Column(1.0, {("visit", i): 1.0 for i in pair}, structure=pair) for pair in ((1, 2), (2, 3), (1, 3))]
    solution = Solution(1.5, [(column, 0.5) for column in columns])
    listed = PathsListed(0, np.array([0]), np.array([], dtype=int), ())
    for decisions, memory in (((), (1, 2, 3)), ((listed,), None)):
        (cut,) = separation.separate(solution, SeparationContext(Sense.MINIMIZE, decisions=decisions))
        assert cut.key[1].memory == memory
