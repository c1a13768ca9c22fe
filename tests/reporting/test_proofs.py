"""What counts as proved by rounds of the engine."""

import dataclasses
import math

import pytest

from colgen import solve
from colgen.core.result import NodeRecord
from colgen.reporting.proofs import proved_by_engine
from problems.cutting_stock import CuttingStock, Instance
from problems.grandparent_parsing import GrandparentParsing, random

WASTEFUL = Instance(100, (44, 35, 27, 20), (3, 4, 5, 6))


@pytest.fixture(scope="module", params=["guess", "tree", "rolls"])
def result(request):
    if request.param == "rolls":
        return solve(CuttingStock(WASTEFUL))
    start = "dual" if request.param == "guess" else "tree"
    return solve(GrandparentParsing(random(8, 3, strength=2.0), start=start))


def test_a_priced_round_that_states_the_bound_proves_it(result):
    assert result.is_optimal
    assert proved_by_engine(result)


def test_rounds_that_priced_but_state_a_weaker_bound_prove_nothing(result):
    weaker = [dataclasses.replace(one, dual_bound=result.sense.ideal) for one in result.iterations]
    assert any(one.pricing_seconds > 0.0 for one in weaker)
    assert not proved_by_engine(dataclasses.replace(result, iterations=weaker))


def test_a_bound_that_nobody_priced_proves_nothing(result):
    unpriced = [dataclasses.replace(one, pricing_seconds=0.0) for one in result.iterations]
    assert not proved_by_engine(dataclasses.replace(result, iterations=unpriced))
    assert not proved_by_engine(dataclasses.replace(result, iterations=()))


def test_a_bound_that_says_nothing_is_no_proof(result):
    nothing = result.sense.ideal
    nodes = [dataclasses.replace(node, bound=nothing) for node in result.nodes]
    assert math.isinf(nothing)
    assert not proved_by_engine(dataclasses.replace(result, nodes=nodes, root_bound=nothing))


def test_what_was_enumerated_needs_a_priced_bound_as_well(result):
    (first, *rest) = result.nodes or (NodeRecord(0, None, 0, 0.0, "solved"),)
    hopeless = dataclasses.replace(first, outcome="enumerated", bound=result.sense.hopeless)
    listed = dataclasses.replace(result, nodes=(hopeless, *rest))
    assert proved_by_engine(listed)
    weaker = [dataclasses.replace(one, dual_bound=result.sense.ideal) for one in result.iterations]
    assert not proved_by_engine(dataclasses.replace(listed, iterations=weaker))


def test_a_node_in_which_an_oracle_finds_no_answer_is_proved_by_its_own_round(result):
    """The oracle of a parser says it by a bound that is worse than any: no tree has the arcs that are left."""
    hopeless = result.sense.hopeless
    (root, *rest) = result.nodes or (NodeRecord(0, None, 0, result.root_bound, "solved"),)
    number = 1 + max((node.number for node in result.nodes), default=0)
    own = next(one for one in result.iterations if one.pricing_seconds > 0.0 and one.phase == 2)
    leaf = NodeRecord(number, root.number, 1, hopeless, "pruned")
    sibling = NodeRecord(number + 1, root.number, 1, root.bound, "pruned")
    nodes = (root, *rest, leaf, sibling)
    asked = (*result.iterations, dataclasses.replace(own, node=number, dual_bound=hopeless))
    assert proved_by_engine(dataclasses.replace(result, nodes=nodes, iterations=asked))
    assert not proved_by_engine(dataclasses.replace(result, nodes=nodes))
    other = (*result.iterations, dataclasses.replace(own, node=number, dual_bound=result.objective))
    assert not proved_by_engine(dataclasses.replace(result, nodes=nodes, iterations=other))
