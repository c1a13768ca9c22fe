"""The harness: shares, seconds, runs, checks, and other programs."""

import math
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from benchmarks import harness
from benchmarks.harness import (
    BenchOptions,
    Plan,
    Run,
    ask_program,
    check_agreement,
    mean_ratio,
    measure,
    repeat_if_brief,
    run_built,
    run_engine,
    run_program,
    spread,
    take_turns,
)
from colgen import InputError, Sense
from colgen.model.rows import compile_model
from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance
from colgen.problems.cutting_stock.model import full
from colgen.reporting.compared import solve_complete
from tests.in_process import bounded

SMALL = CuttingStockInstance(10, (6, 5, 3), (2, 3, 2))


@pytest.mark.parametrize(
    ("share", "most", "expected"),
    [(1.0, 5, [0, 2, 4, 6, 8]), (1.0, 20, list(range(10))), (0.4, 5, [0, 5]), (0.3, None, [0, 3, 6]), (0.0, 5, [0])],
)
def test_shares_are_spread(share, most, expected):
    assert spread(range(10), share, most=most) == expected


def test_missing_data_are_an_error(tmp_path):
    assert BenchOptions(tmp_path).folder("add --data") == tmp_path
    with pytest.raises(InputError, match="add --data"):
        BenchOptions().folder("add --data")


def test_a_plan_is_cut_to_a_share():
    @dataclass(frozen=True)
    class Small(Plan):
        documents: int = 5
        limit: float = 2.0

    assert Small().cut(0.3, "documents") == Small(2)


def clock_of(*times):
    readings = iter(times)
    return lambda: next(readings)


def test_the_shortest_of_several_calls_counts():
    values = iter("abc")
    assert measure(lambda: next(values), 3, clock=clock_of(0.0, 5.0, 5.0, 7.0, 7.0, 11.0)) == ("b", 2.0)


def test_ways_take_turns():
    order = []
    ways = {name: lambda name=name: order.append(name) or name for name in "ab"}
    results, seconds = take_turns(ways, 2)
    assert order == ["a", "b", "a", "b"]
    assert results == {"a": "a", "b": "b"}
    assert {name: len(taken) for name, taken in seconds.items()} == {"a": 2, "b": 2}


def test_a_turn_lasts_and_counts_with_the_mean_of_its_calls():
    _, seconds = take_turns({"a": lambda: None}, turn=0.05, clock=clock_of(0.0, 0.02, 0.04, 0.06, 0.06))
    assert seconds == {"a": [pytest.approx(0.02)]}


def test_brief_runs_are_repeated():
    seconds = iter((0.03, 0.01, 0.02, 9.0))
    way = lambda: Run("a", "x", next(seconds), 1.0, 1.0, True)  # noqa: E731
    assert repeat_if_brief(way, 0.2).seconds == 0.02
    assert repeat_if_brief(way, 0.2).seconds == 9.0


def test_a_run_of_the_engine():
    run, result = run_engine(CuttingStock(SMALL), 30.0, name="small")
    assert run.claim == (4.0, 4.0) == (result.objective, result.dual_bound)
    assert run.proved
    assert run.by_engine
    assert run.counted == run.seconds
    assert str(run).startswith("small: column generation 4, bound 4, proved, ")
    assert Run("a", "x", 1.0, 2.0, 1.0, False, limit=3.0).counted == 3.0


def test_the_seconds_of_a_built_run_contain_those_of_building():
    spent = []

    def build():
        started = time.process_time()
        while time.process_time() - started < 0.05:
            pass
        spent.append(time.process_time() - started)
        return CuttingStock(SMALL)

    run, result = run_built(build, 10.0, name="small")
    assert run.proved
    assert run.objective == result.objective
    assert run.seconds >= run.details["setup"] >= spent[0]


def test_a_run_of_a_program(monkeypatch):
    monkeypatch.setattr(harness, "bounded", bounded)
    run = run_program("HiGHS", "small", 30.0, solve_complete, compile_model(full(SMALL, "arc_flow")), 30.0)
    assert run.proved
    assert run.objective == pytest.approx(4.0)
    assert 0.0 < run.seconds < 30.0


def test_a_program_that_takes_too_long_is_ended():
    run = run_program("sleep", "x", 0.2, time.sleep, 60.0)
    assert (run.proved, run.seconds) == (False, 0.2)
    assert math.isnan(run.bound)
    assert run_program("exit", "x", 0.3, sys.exit, 1).seconds == 0.3


@pytest.mark.parametrize(
    ("claims", "known"),
    [
        ({"a": (3.0, 3.0), "b": (4.0, 4.0)}, None),
        ({"a": (3.0, 1.0), "b": (math.inf, 3.5)}, None),
        ({"a": (3.0, 3.0)}, 3.5),
        ({"a": (3.0, 3.0)}, 2.5),
        ({"a": (3.0, 2.0), "b": (math.inf, math.inf)}, None),
    ],
)
def test_contradictions_are_found(claims, known):
    with pytest.raises(AssertionError, match=r"x: .* better than the bound"):
        check_agreement("x", claims, known=known)
    mirrored = {way: (-objective, -bound) for way, (objective, bound) in claims.items()}
    with pytest.raises(AssertionError, match="better than the bound"):
        check_agreement("x", mirrored, Sense.MAXIMIZE, known=None if known is None else -known)


@pytest.mark.parametrize(
    "claims",
    [
        {"a": (3.0, 3.0), "b": (3.0000001, 3.0)},
        {"a": (3.0, 2.0), "b": (math.nan, math.nan), "c": (math.inf, -math.inf)},
        {"a": (math.inf, math.inf), "b": (math.inf, math.inf)},
    ],
)
def test_agreement_is_silent(claims):
    check_agreement("x", claims)


def test_a_slack_is_allowed():
    check_agreement("x", {"a": (3.0, 3.0)}, known=3.4, slack=0.5)


def test_ratios_are_averaged_by_their_logarithms():
    figure = mean_ratio("r", [2.0, 8.0], [1.0, 1.0], "of two")
    assert (figure.value, figure.n, figure.unit) == (pytest.approx(4.0), 2, "ratio")
    assert figure.note == "of two; geometric mean"
    assert mean_ratio("r", [1.0], [math.inf]).value == 0.0


def test_a_program_answers_in_json():
    script = "import json, sys; print('noise'); print(json.dumps(json.load(sys.stdin)['a'] + 1))"
    assert ask_program(sys.executable, script, {"a": 1}) == 2
    with pytest.raises(subprocess.CalledProcessError):
        ask_program(sys.executable, "raise SystemExit(3)", None)
    with pytest.raises(subprocess.TimeoutExpired):
        ask_program(sys.executable, "import time; time.sleep(60)", None, 0.2)
    with pytest.raises(ValueError, match="Expecting value"):
        ask_program(sys.executable, "", None)
