"""Stop rules on scripted rounds."""

import dataclasses
import math

import pytest

from colgen import GapLimit, Iteration, IterationLimit, MemoryLimit, Sense, Termination, TimeLimit
from colgen.core.stop import AnyOf, Stalled, resident_bytes

ROUND = Iteration(
    number=0,
    node=0,
    depth=0,
    phase=2,
    objective=10.0,
    dual_bound=5.0,
    incumbent=math.inf,
    global_bound=-math.inf,
    columns=1,
    rows=1,
    new_columns=1,
    new_rows=0,
    misprices=0,
    seconds=1.0,
    master_seconds=0.0,
    pricing_seconds=0.0,
    separation_seconds=0.0,
)


def at(**changes):
    return dataclasses.replace(ROUND, **changes)


def says(rule, iteration, sense=Sense.MINIMIZE):
    return rule(iteration, sense)


def test_time():
    assert says(TimeLimit(2), at(seconds=1.9)) is None
    assert says(TimeLimit(2), at(seconds=2.0)) is Termination.TIME_LIMIT
    for wrong in (-1, math.nan):
        with pytest.raises(ValueError, match="seconds"):
            TimeLimit(wrong)


def test_rounds():
    assert says(IterationLimit(3), at(number=1)) is None
    assert says(IterationLimit(3), at(number=2)) is Termination.ITERATION_LIMIT  # rounds count from zero


def test_gap():
    rule = GapLimit(0.1)
    assert says(rule, ROUND) is None  # no answer yet
    assert says(rule, at(incumbent=100.0, global_bound=89.0)) is None
    assert says(rule, at(incumbent=100.0, global_bound=90.0)) is Termination.GAP_LIMIT
    assert says(rule, at(incumbent=-100.0, global_bound=-90.0), Sense.MAXIMIZE) is Termination.GAP_LIMIT
    assert says(rule, at(incumbent=100.0, global_bound=-math.inf)) is None


def test_memory():
    assert says(MemoryLimit(10**15), ROUND) is None
    assert says(MemoryLimit(1), ROUND) is Termination.MEMORY_LIMIT
    assert 10**6 < resident_bytes() < 10**12


def test_stalled():
    rule = Stalled(2)
    assert says(rule, at(number=0)) is None
    assert says(rule, at(number=1)) is None
    assert says(rule, at(number=2)) is Termination.STALLED


@pytest.mark.parametrize(
    "change", [{"objective": 9.0}, {"dual_bound": 6.0}, {"node": 1}, {"phase": 1}, {"dual_bound": -math.inf}]
)
def test_changing_values_are_not_stalled(change):
    rule = Stalled(2)
    says(rule, at(number=0))
    says(rule, at(number=1))
    assert says(rule, at(number=2, **change)) is None
    assert says(rule, at(number=3, **change)) is None
    assert says(rule, at(number=4, **change)) is Termination.STALLED


def test_a_rule_can_serve_a_second_run():
    rule = Stalled(2)
    for number in (0, 1):
        says(rule, at(number=number))
    assert says(rule, at(number=0)) is None
    assert says(rule, at(number=1)) is None


def test_any_of():
    rule = AnyOf(IterationLimit(5), TimeLimit(3), TimeLimit(7), lambda i, s: None)
    assert rule.seconds == 3
    assert says(rule, ROUND) is None
    assert says(rule, at(seconds=4.0)) is Termination.TIME_LIMIT
    assert says(rule, at(number=4, seconds=4.0)) is Termination.ITERATION_LIMIT  # the first that applies
    assert AnyOf().seconds == math.inf
    assert says(AnyOf(), ROUND) is None
