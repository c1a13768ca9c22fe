"""Nodes of one restricted master: warm starts, and columns shared between nodes."""

import pytest

from benchmarks.engine.trees import PoolPartition
from colgen import Method, Record, Termination, WarmStart, solve
from tests.toys import CuttingStock, Partition, SetPartitioning

PAIRS = [(2.0, frozenset(pair)) for pair in ((0, 1), (1, 2), (0, 2))]
TRIANGLE = Partition(3, (*PAIRS, *((3.0, frozenset([k])) for k in range(3))))


def test_the_root_relaxation_and_the_answer_are_separate():
    result = solve(CuttingStock())
    assert result.relaxation.objective == pytest.approx(452.25)
    assert result.objective == 453
    assert result.root_bound <= 453


def test_a_guess_that_proves_itself_takes_one_round():
    plain = solve(CuttingStock())
    relaxed = solve(CuttingStock(), relaxation=True, record=Record(duals=True))
    duals = {"demand": list(relaxed.iterations[-1].duals["demand"])}

    class Warm(CuttingStock):
        def warm_start(self, budget):
            return WarmStart(duals, [plain.solution])

    result = solve(Warm())
    assert result.is_optimal
    assert result.objective == 453
    assert len(result.iterations) == 1


def test_nodes_share_columns():
    result = solve(SetPartitioning(TRIANGLE), method=Method(heuristics=()))
    assert result.is_optimal
    assert result.objective == TRIANGLE.optimum()
    assert sum(record.new_columns for record in result.iterations) <= len(TRIANGLE.subsets)


def test_a_relaxation_returns_no_answer():
    result = solve(CuttingStock(), relaxation=True)
    assert result.termination is Termination.OPTIMAL
    assert result.answer is None
    assert len(result.nodes) == 1


def test_nodes_below_the_root_price_at_their_master_s_own_duals():
    result = solve(PoolPartition(rows=12, columns=60, oracles=1), method=Method(heuristics=()))
    below = [round for round in result.iterations if round.node]
    assert below
    assert not any(round.misprices for round in below)
