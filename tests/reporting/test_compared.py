"""Proofs by rounds of the engine, and measurements."""

from __future__ import annotations

import dataclasses
import math
import time

import pytest

from colgen import Sense, compare, solve
from colgen.core.result import NodeRecord
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.grandparent_parsing import GrandparentParsing, random
from colgen.reporting import compared
from colgen.reporting.compared import proved_by_engine

WASTEFUL = CuttingStockInstance(100, (44, 35, 27, 20), (3, 4, 5, 6))


@pytest.fixture(scope="module", params=["guess", "tree", "rolls"])
def result(request):
    if request.param == "rolls":
        return solve(CuttingStock(WASTEFUL))
    start = "dual" if request.param == "guess" else "tree"
    return solve(GrandparentParsing(random(8, 3, strength=2.0), start=start))


def test_a_priced_round_that_states_the_bound_proves_it(result):
    assert result.is_optimal
    assert proved_by_engine(result)


def test_a_priced_round_with_a_weaker_bound_proves_nothing(result):
    weaker = [dataclasses.replace(one, dual_bound=result.sense.ideal) for one in result.iterations]
    assert any(one.pricing_seconds > 0.0 for one in weaker)
    assert not proved_by_engine(dataclasses.replace(result, iterations=weaker))


def test_a_bound_without_pricing_proves_nothing(result):
    unpriced = [dataclasses.replace(one, pricing_seconds=0.0) for one in result.iterations]
    assert not proved_by_engine(dataclasses.replace(result, iterations=unpriced))
    assert not proved_by_engine(dataclasses.replace(result, iterations=()))


def test_an_infinite_bound_is_no_proof(result):
    nothing = result.sense.ideal
    nodes = [dataclasses.replace(node, bound=nothing) for node in result.nodes]
    assert math.isinf(nothing)
    assert not proved_by_engine(dataclasses.replace(result, nodes=nodes, root_bound=nothing))


def test_an_enumerated_node_needs_a_priced_bound(result):
    (first, *rest) = result.nodes or (NodeRecord(0, None, 0, 0.0, "solved"),)
    hopeless = dataclasses.replace(first, outcome="enumerated", bound=result.sense.hopeless)
    listed = dataclasses.replace(result, nodes=(hopeless, *rest))
    assert proved_by_engine(listed)
    weaker = [dataclasses.replace(one, dual_bound=result.sense.ideal) for one in result.iterations]
    assert not proved_by_engine(dataclasses.replace(listed, iterations=weaker))


def test_a_node_proved_infeasible_by_an_oracle_needs_its_own_round(result):
    """A parser's oracle returns the worst possible bound if no tree consists of the remaining arcs."""
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


INSTANCE = CuttingStockInstance(10, (3, 4, 5), (4, 3, 2))


def counted(calls, seconds=0.0, compiling=()):
    """Return a way that counts its calls and returns an answer."""

    def way(instance):
        calls.append(instance)
        time.sleep(seconds)
        return 4

    return way


def test_the_first_run_is_a_warm_up_and_repeats_are_counted():
    first, second = [], []
    compare(INSTANCE, {"first": counted(first), "second": counted(second)}, repeats=3)
    assert (len(first), len(second)) == (4, 3)


def test_a_short_run_that_compiles_kernels_is_repeated(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 5.0])
    monkeypatch.setattr(compared, "compile_seconds", lambda: next(clock))
    calls = []
    line = compared.measure("way", counted(calls), INSTANCE, math.inf, False)
    assert len(calls) == 2
    assert line.compiling == 5.0
    assert line.seconds < 1.0
    assert line.processor_seconds < 1.0


def test_wall_clock_and_processor_time_differ_by_waiting():
    (line,) = compare(INSTANCE, {"sleeping": counted([], 0.05)})
    assert line.seconds >= 0.05
    assert line.processor_seconds < 0.05


def test_lines_have_the_root_bound_and_the_stages():
    (line,) = compare(INSTANCE, [CuttingStock])
    assert line.root_gap == pytest.approx(Sense.MINIMIZE.gap(line.objective, line.root_bound))
    assert set(line.stages) >= {"master", "pricing", "total"}
    assert len(line.trace) == line.rounds
    (number,) = compare(INSTANCE, {"a number": counted([])})
    assert math.isnan(number.root_gap)
