"""One way of solving an instance, measured."""

import math
import time

import pytest

from colgen import Sense, compare
from colgen.reporting import compared
from problems.cutting_stock import CuttingStock, Instance

INSTANCE = Instance(10, (3, 4, 5), (4, 3, 2))


def counted(calls, seconds=0.0, compiling=()):
    """A way that says when it was called, and an answer."""

    def way(instance):
        calls.append(instance)
        time.sleep(seconds)
        return 4

    return way


def test_the_first_run_of_all_is_one_to_warm_up_and_repeats_are_so_many():
    first, second = [], []
    compare(INSTANCE, {"first": counted(first), "second": counted(second)}, repeats=3)
    assert (len(first), len(second)) == (4, 3)


def test_a_short_run_in_which_kernels_were_compiled_is_done_again(monkeypatch):
    clock = iter([0.0, 5.0, 5.0, 5.0])
    monkeypatch.setattr(compared, "compile_seconds", lambda: next(clock))
    calls = []
    line = compared.measured("way", counted(calls), INSTANCE, math.inf, False)
    assert len(calls) == 2
    assert line.compiling == 5.0
    assert line.seconds < 1.0
    assert line.processor_seconds < 1.0


def test_the_clock_and_the_processor_s_differ_by_what_is_waited():
    (line,) = compare(INSTANCE, {"sleeping": counted([], 0.05)})
    assert line.seconds >= 0.05
    assert line.processor_seconds < 0.05


def test_the_root_and_the_stages_are_told():
    (line,) = compare(INSTANCE, [CuttingStock])
    assert line.root_gap == pytest.approx(Sense.MINIMIZE.gap(line.objective, line.root_bound))
    assert set(line.stages) >= {"master", "pricing", "total"}
    assert len(line.trace) == line.rounds
    (number,) = compare(INSTANCE, {"a number": counted([])})
    assert math.isnan(number.root_gap)
