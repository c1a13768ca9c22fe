"""Frames of a run."""

import math
import pickle

import pytest

from colgen import InputError, Method, Solution, solve
from tests.toys import CuttingStock
from tests.zoo import Partitioning

pytest.importorskip("pandas")


def test_columns_have_their_values_and_their_first_round():
    result = solve(CuttingStock())
    frame = pickle.loads(pickle.dumps(result)).to_frame("columns")
    assert len(frame) == len(result.pool)
    used = frame[frame.value > 0]
    assert dict(zip(used.structure, used.value, strict=True)) == dict(result.answer)
    whole = {column.structure: value for column, value in result.relaxation.columns}
    assert {s: v for s, v in zip(frame.structure, frame.relaxation, strict=True) if v} == whole
    assert (frame.reduced_cost >= -1e-9).all()
    assert (frame.reduced_cost[frame.relaxation > 0].abs() < 1e-9).all()
    for record in result.iterations:
        assert (frame["round"] == record.number).sum() == record.new_columns


def test_given_columns_precede_the_first_round():
    first = solve(CuttingStock())
    frame = solve(CuttingStock(), start=first.warm_start()).to_frame("columns")
    assert (frame["round"][: len(first.pool)] == -1).all()


def test_nodes_and_their_decisions():
    result = solve(Partitioning(cuts=False), method=Method(heuristics=()))
    frame = result.to_frame("nodes")
    assert frame.number.tolist() == [node.number for node in result.nodes]
    assert frame.decision[0] == ""
    assert all(str(node.decisions[-1]) == told for node, told in zip(result.nodes[1:], frame.decision[1:], strict=True))
    assert frame.parent.isna().sum() == 1


def test_frames_without_a_line_have_their_names_and_others_are_refused():
    import dataclasses

    result = dataclasses.replace(solve(CuttingStock()), pool=None, nodes=(), solution=Solution(math.inf))
    assert list(result.to_frame("columns")) == [
        "structure",
        "cost",
        "value",
        "relaxation",
        "reduced_cost",
        "basic",
        "round",
    ]
    assert len(result.to_frame("nodes")) == 0
    with pytest.raises(InputError, match=r"of: .*'rows'"):
        result.to_frame("rows")
