"""Ablations and their lines."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest

from colgen import Method, NoStabilization, ablation
from colgen.core import signals
from colgen.core.errors import ColgenError, InputError
from colgen.reporting.ablation import BOUNDINGS, CHOICES, HEURISTICS, PRICINGS, STABILIZATIONS, Ablation
from tests.assignment import Assignment, assignment


def test_a_line_has_the_work_of_a_run():
    (line,) = ablation(assignment(), {"plain": Method(stabilization=NoStabilization())}).lines
    assert line.is_proved
    assert (line.name, line.instance, line.misprices) == ("plain", "Assignment", 0)
    assert line.rounds == len(line.trace)
    assert line.to_dict()["columns"] == line.generated > 0


def test_a_run_that_is_stopped_is_no_proof():
    (line,) = ablation(assignment(), {"no time": Method()}, time_limit=0.0).lines
    assert not line.is_proved


TWO = {"default": Method(), "no stabilization": Method(stabilization=NoStabilization())}


@pytest.mark.parametrize("methods", [STABILIZATIONS, BOUNDINGS, PRICINGS, CHOICES, HEURISTICS])
def test_methods_of_every_set_find_the_same_optimum(methods):
    found = ablation(assignment(3, 7, 3), methods)
    assert found.methods == list(methods)
    assert {line.objective for line in found.lines} == {found.lines[0].objective}
    assert all(line.is_proved for line in found.lines)
    assert found.agree


def test_a_table_of_one_instance_prints_shows_and_becomes_a_frame():
    found = ablation(assignment(), TWO)
    head, first, second, common = str(found).splitlines()
    assert head.split() == ["method", "rounds", "misprices", "columns", "nodes", "seconds"]
    assert first.startswith("default")
    assert second.startswith("no stabilization")
    objective = f"{found.lines[0].objective:g}"
    assert common == f"All methods: objective {objective}, dual bound {objective}. Proved optimal."
    assert common in found._repr_html_()
    assert "<td>no stabilization</td>" in found._repr_html_()
    frame = found.to_frame().set_index("method")
    assert frame.loc["default", "objective"] == found.lines[0].objective
    rounds = found.to_frame(rounds=True)
    assert len(rounds) == sum(line.rounds for line in found.lines)
    assert set(rounds.method) == set(TWO)


def test_outcomes_that_differ_are_columns(monkeypatch):
    found = ablation(assignment(), TWO)
    stopped = dataclasses.replace(found.lines[1], dual_bound=-math.inf, proof="Stopped at the time limit.")
    differing = Ablation([found.lines[0], stopped])
    head, first, second = str(differing).splitlines()
    assert head.split()[:4] == ["method", "objective", "dual", "bound"]
    assert first.endswith("Proved optimal.")
    assert second.split()[3] == "none"
    assert second.endswith("Stopped at the time limit.")
    monkeypatch.setenv("COLUMNS", "80")
    above, below = str(differing).split("\n\n")
    assert [line.split("  ")[0] for line in above.splitlines()] == ["method", "default", "no stabilization"]
    assert [line.split("  ")[0] for line in below.splitlines()] == ["method", "default", "no stabilization"]
    assert below.endswith("Stopped at the time limit.")


def test_a_table_of_several_instances_has_sums():
    found = ablation({"one": assignment(seed=1), "two": lambda: assignment(seed=2)}, TWO)
    assert found.instances == ["one", "two"]
    assert len(found.lines) == 4
    head, first, _ = str(found).splitlines()
    assert "slowest" in head
    assert first.split()[1] == str(sum(line.rounds for line in found.of("default")))
    assert first.endswith("2 of 2")
    assert found.ratios("default") == [1.0, 1.0]
    asked = [line.rounds + line.misprices for line in found.lines]
    assert found.ratios("no stabilization", by="rounds") == [asked[1] / asked[0], asked[3] / asked[2]]


def test_tables_are_saved(tmp_path):
    found = ablation([assignment()], TWO, time_limit=60)
    found.to_json(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [line["method"] for line in content["lines"]] == list(TWO)
    assert {each["method"] for each in content["rounds"]} == set(TWO)
    found.to_csv(tmp_path / "a.csv")
    head, first, _ = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("instance,method,objective,dual_bound,rounds")
    assert first.startswith("Assignment 1,default,")


def test_contradicting_methods_cause_a_warning():
    class Cheaper(Assignment):
        def check(self, answer):
            return None

    problem = assignment()
    cheaper = Cheaper(problem.costs - 1, problem.sizes, problem.capacities)
    found = ablation(problem, {"right": Method(), "wrong": cheaper})
    assert not found.agree
    assert "contradict" in str(found)
    assert "contradict" in found._repr_html_()


def test_an_interrupt_keeps_the_measurements():
    runs = []

    def interrupting(problem):
        signals.SIGNALS.count += 1
        return problem

    with signals.holding_signals():
        found = ablation(
            assignment(), {"one": Method(), "two": interrupting, "three": Method(), "four": Method()}, say=runs.append
        )
    assert found.is_interrupted
    assert found.lines[0].is_proved
    assert "four" not in found.methods
    assert len(runs) == len(found.lines)
    assert found.ratios("one") == [1.0]


def test_a_value_that_is_no_problem_is_refused():
    with pytest.raises(InputError, match="one problem or more"):
        ablation([], TWO)
    with pytest.raises(InputError, match=r"expected a problem.*7"):
        ablation([7], TWO)
    with pytest.raises(InputError, match=r"makes a problem.*7"):
        ablation(lambda: 7, TWO)
    with pytest.raises(InputError, match=r"one instance.*2"):
        ablation([assignment(), assignment()], {"a": assignment()})
    with pytest.raises(InputError, match="time_limit"):
        ablation(assignment(), TWO, time_limit=-1)
    with pytest.raises(InputError, match=r"'x'.*default"):
        ablation(assignment(), {"default": Method()}).of("x")


def test_an_error_names_its_method():
    class Wrong(Assignment):
        def check(self, answer):
            return 7.0

    problem = assignment()
    wrong = Wrong(problem.costs, problem.sizes, problem.capacities)
    with pytest.raises(ColgenError, match=r"^default, Wrong: "):
        ablation(wrong, {"default": Method()})
