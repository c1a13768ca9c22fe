"""Fuzzing of the templates: reference solvers are correct, failures replay, and seeded instances pass."""

import dataclasses
import json
import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

from colgen.cli.template import load_template, template_names
from tests.fuzz import (
    bad_programs,
    compacts,
    decompositions,
    limits,
    networks,
    orders,
    rolls,
    routes,
)
from tests.fuzz.bad_inputs import good_files, try_bad_inputs
from tests.fuzz.harness import fuzz, replay
from tests.fuzz.interrupts import fork_run, interrupt, wait_for_exit
from tests.fuzz.judging import Fault, Outcome, Truths, find_fault, single
from tests.fuzz.limits import compare_threads, measure_overrun
from tests.fuzz.long import INSTANCES, PROBLEMS, write_all
from tests.fuzz.scores import Sample
from tests.fuzz.templates import TEMPLATES, judge

COMPOSED = {"model", "pipeline"}
"""Templates made of parts that are covered: files and decompositions; chain_map and then grandparent_parsing."""


@pytest.mark.parametrize(
    "covered",
    [TEMPLATES, INSTANCES, PROBLEMS, good_files, write_all],
    ids=["truth, threads", "limits", "interrupts", "bad inputs", "files"],
)
def test_every_template_is_in_every_part(covered, tmp_path):
    if callable(covered):
        covered = covered(tmp_path)
        for name, files in covered.items():
            for file in files if isinstance(files, tuple) else [files]:
                assert load_template(name).read(file) is not None
    assert sorted(set(covered) - {compacts.NAME, decompositions.NAME, networks.NAME, orders.NAME}) == [
        name for name in template_names() if name not in COMPOSED
    ]
    assert compacts.NAME in covered or covered is not TEMPLATES


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_instance_survives_a_file(name):
    for seed in range(5):
        sample = TEMPLATES[name].draw(np.random.default_rng(seed))
        again = Sample.from_dict(json.loads(json.dumps(sample.to_dict())))
        assert again.settings == sample.settings
        assert all(np.array_equal(array, again.arrays[key]) for key, array in sample.arrays.items())


def test_block_points_and_the_compact_model_agree():
    ways = set()
    for seed in range(60):
        sample = compacts.draw(np.random.default_rng(seed))
        arrays = sample.arrays
        if compacts._is_open(sample):
            if "open" not in ways:
                assert find_fault(*compacts.evaluate(sample)) is None
            ways.add("open")
            continue
        integer = sample.settings["integer"] and not (arrays["kinds"] == compacts.CONTINUOUS).any()
        if integer and np.isfinite(arrays["upper"]).all() and np.abs(arrays["costs"]).max() < 10.0:
            assert compacts._by_points(sample) == pytest.approx(compacts._by_highs(sample))
            ways.add("integer")
    assert ways == {"open", "integer"}


def test_infeasible_presolve_results_are_checked_without_presolve():
    arrays = {
        "costs": np.array([[2.0, 2.0, 0.0], [0.0, 0.0, 6.0], [5.0, 0.0, 0.0], [-3.0, -2.0, 4.0]]),
        "kinds": np.array([2.0, 0.0, 0.0]),
        "upper": np.array([np.inf, 1.0, 1.0]),
        "matrix": np.array([[[2.0, 1.0, -2.0]], [[2.0, 4.0, -2.0]], [[5.0, 2.0, 4.0]], [[4.0, -1.0, 1.0]]]),
        "low": np.full((4, 1), -np.inf),
        "high": np.array([[2.0], [3.0], [4.0], [2.0]]),
        "linking": np.array([[[1.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]]]),
        "linking_low": np.array([-np.inf]),
        "linking_high": np.array([8.0]),
        "static": np.zeros(2),
        "row_scales": np.ones(2),
    }
    sample = compacts.Sample(compacts.NAME, arrays, 1.0, (5.0,), {"maximize": True, "integer": True})
    # Separately, the blocks score 5, 6, 4 and 4 and use 4.5, 1, 0.8 and 2: 0.3 too much, at a price of 2.
    assert compacts._best(sample) == pytest.approx(18.4)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_before_the_run_are_not_handled(sent, tmp_path):
    # Short sleeps, because a signal just before a sleep is handled only after it.
    child, pipe = fork_run(tmp_path, lambda: [time.sleep(0.01) for _ in range(2_000)])
    os.read(pipe, 1)
    os.kill(child, sent)
    assert wait_for_exit(child, 10.0) == 128 + sent
    os.close(pipe)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (single(3.0, 4.0, 3.0, True), "optimality is claimed for 3"),
        (single(4.0, 4.0, 3.0, True), "has objective 3"),
        (single(4.0, 3.0, 4.0, True), "the bound 3 is worse"),
        (single(4.0, 9.0, 4.0, False), "unproved"),
        (single(-np.inf, 4.0, -np.inf, True), "answer 0 is missing"),
        (single(4.0, 4.0, np.nan, True), "answer 0 is infeasible"),
        (single(4.0, 5.0, 4.0, True), "optimality is claimed with the bound 5"),
    ],
)
def test_wrong_results_are_detected(claims, message):
    truths = Truths(np.array([4.0]), 1.0, np.zeros(1))

    assert find_fault(truths, single(4.0, 4.0, 4.0, True)) is None
    assert message in find_fault(truths, claims).words


def test_a_failure_replays(monkeypatch):
    """All bounds of the template are too low."""
    real = rolls.evaluate

    def lower_bounds(sample):
        truths, claims = real(sample)
        return truths, dataclasses.replace(claims, bound=claims.bound - 1.0)

    monkeypatch.setattr(rolls, "evaluate", lower_bounds)
    tally = fuzz("cutting_stock", 1, count=1, shrinking=1.0)

    assert tally.faults[Fault.WRONG_PROOF] == 1
    (failed,) = tally.failed
    assert "is worse" in replay(json.loads(json.dumps(failed))).words
    monkeypatch.undo()
    assert judge(Sample.from_dict(failed["drawn"]))[0] is None


@pytest.mark.parametrize("seed", range(3))
def test_bad_programs_are_refused(seed):
    wrong = []
    for number in range(60):
        change, run = bad_programs.draw(np.random.default_rng([seed, number]))
        fault = run()
        if fault is not None:
            wrong.append(f"{change}: {fault}")
    assert wrong == []


def test_bad_inputs_are_one_line():
    assert try_bad_inputs(8, 0) == Outcome(8)


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_prove_correct_results(name):
    tally = fuzz(name, 5, count=6, shrinking=0.0)

    assert [failed["words"] for failed in tally.failed] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_prove_correct_results_for_half_a_minute(name):
    tally = fuzz(name, 12, seconds=30.0)

    assert [failed["words"] for failed in tally.failed] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_bad_inputs_are_one_line_every_time():
    assert try_bad_inputs(100, 1) == Outcome(100)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_interrupt_is_lost():
    outcome = interrupt(30, 1, seconds=300.0)

    assert outcome.tried >= 20
    assert outcome.wrong == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_threads_find_the_same_results():
    assert compare_threads(1, rounds=3)[0] == 0


@pytest.mark.parametrize(("late", "runs"), [(0.0, 10), (0.2, 18), (60.0, 2)])
def test_measuring_limits_takes_about_its_time(late, runs, monkeypatch):
    now, measured = [0.0], []

    def over(name, instance, limit):
        now[0] += limit + late
        measured.append(limit)
        return late

    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(limits, "INSTANCES", {"one": lambda: None, "other": lambda: None})
    monkeypatch.setattr(limits, "PROBLEMS", {"one": lambda instance: None, "other": lambda instance: None})
    monkeypatch.setattr(limits, "solve", lambda problem, stop: SimpleNamespace(seconds={}))
    monkeypatch.setattr(limits, "_over", over)
    worst, count = measure_overrun(4.0)
    assert (worst, len(measured)) == (late, runs)
    assert count <= runs
    assert now[0] <= (4.5 if late < 1 else 121.0)


def test_runs_that_compile_are_not_measured(monkeypatch):
    """If kernels are compiled in a run, before or during measuring, the next run counts."""
    now, runs = [0.0], []
    compiling = {1: 3.0, 2: 5.0, 5: 0.3}  # in the warm-up, and in a measured run

    def run(problem, stop):
        late = compiling.get(len(runs), 0.0)
        runs.append(stop.seconds)
        now[0] += stop.seconds + late
        return SimpleNamespace(seconds={"compiling": late})

    monkeypatch.setattr(limits.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(limits, "INSTANCES", {"one": lambda: None})
    monkeypatch.setattr(limits, "PROBLEMS", {"one": lambda instance: instance})
    monkeypatch.setattr(limits, "solve", run)
    assert measure_overrun(1.0) == (0.0, 4)
    assert runs == [1.0, 1.0, 1.0, 1.0, 0.01, 0.03, 0.03, 0.1, 0.3]


def test_many_customers_are_drawn():
    samples = [routes.draw(np.random.default_rng([32, seed])) for seed in range(40)]
    assert any(len(sample.arrays["demands"]) > 7 for sample in samples)
