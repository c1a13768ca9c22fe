"""The lines of `colgen demo`: every template against brute force."""

from __future__ import annotations

import dataclasses

import pytest

from colgen import ColgenError, solve
from colgen.cli import template
from colgen.cli.demonstration import demonstrations, solve_model
from colgen.solvers.linear.lp import LPStatus
from colgen.solvers.linear.mip import MIPSolution
from tests.assignment import assignment
from tests.cli.stub import STUB, demo, run


def test_demo(capsys, install):
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    head, first, second, third = out.split("\n\n")[0], *out.splitlines()[3:6]
    assert len(head.splitlines()) == 2
    assert first.split("  ")[0] == "stub, against all of them"
    assert second.split() == ["objective", "of", "possible", "time"]
    assert third.split("  ")[1:2] == ["three [small] tasks"]
    assert third.split()[-7:] == ["12", "sets", "7", "of", "1,234", "41x", "faster"]  # half a second, over 0.01234
    assert out.splitlines()[6] == third
    assert "brute force has no answer in 0.5 s" in out
    end = " ".join(out.split("\n\n")[-1].split())
    assert end.startswith("Column generation proved 2 of 2 instances optimal; median: 41x faster than brute force.")
    assert end.endswith("Next: colgen example stub > example.txt colgen solve stub example.txt")


def test_an_instance_that_needs_no_column_and_one_on_which_column_generation_is_slower(capsys, install):
    install(dataclasses.replace(STUB, demo=(demo(columns_used=0, brute_force_seconds=0.001234),)))
    _, out, _ = run(capsys, "demo")
    assert "none needed" in out
    assert "10x slower" in out
    assert "proved 1 of 1 instance optimal; median: 10x slower" in " ".join(out.split())


@pytest.mark.parametrize("columns", [7, 10**7 - 1, 10**7, 2**2000])
@pytest.mark.parametrize(
    "name",
    [
        "short",
        "karate club, 34 nodes: modularity without its constant",
        f"problems.{'very_' * 9}long: a title of words",
    ],
)
def test_rows_fit_eighty_characters_and_no_word_or_number_is_cut(capsys, install, name, columns):
    line = dataclasses.replace(
        demo(-123456.789)(),
        instance=name,
        objective=-123456.789,
        columns_possible=columns,
        brute_force="a complete linear program in HiGHS that has a long name",
        brute_force_seconds=12345.678,
        proof="Stopped at the time limit.",
    )
    install(dataclasses.replace(STUB, name="grandparent_parsing", demo=(lambda: line,)))
    code, out, _ = run(capsys, "demo")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    words = out.split()
    assert set(name.split()) <= set(words)
    assert "-123456.79" in words
    assert "1,000,000x" in words
    assert "Stopped at the time limit." in out


def test_demo_reports_disagreement(capsys, install):
    install(dataclasses.replace(STUB, demo=(demo(), demo(13.0))))
    code, out, err = run(capsys, "demo")
    assert code == 4
    assert "13 DISAGREES" in out
    assert "WRONG ANSWER" in err


@pytest.mark.parametrize(
    ("brute_force", "more", "wrong"),
    [
        (13.0, {"brute_force_proved": False}, False),  # an answer at a limit proves nothing
        (12.0 * (1 + 1e-9), {}, False),
        (13.0, {"dual_bound": 14.0}, False),  # column generation had not ended either
        (15.0, {"dual_bound": 14.0}, True),
        (11.0, {"dual_bound": 14.0}, True),
        (1.3e-9, {"objective": 1.2e-9}, False),  # rounding of zero
        (12e9 + 100.0, {"objective": 12e9}, False),
        (12e9 + 1e5, {"objective": 12e9}, True),
        (12.0, {"objective": float("inf"), "dual_bound": 11.0}, False),  # no answer, only a bound
    ],
)
def test_only_a_proved_optimum_contradicts(capsys, install, brute_force, more, wrong):
    install(dataclasses.replace(STUB, demo=(demo(brute_force, **more),)))
    code, out, err = run(capsys, "demo")
    assert code == (4 if wrong else 0)
    assert ("DISAGREES" in out) == ("WRONG ANSWER" in err) == wrong
    assert ("not proved in 0.5 s" in out) == ("> 41" in out) == ("brute_force_proved" in more)


def test_each_row_is_printed_before_the_next_instance(capsys, install):
    before = []

    def second():
        before.append(capsys.readouterr().out)
        return demo()()

    install(dataclasses.replace(STUB, demo=(demo(), second)))
    code, out, _ = run(capsys, "demo")
    assert code == 0
    assert before[0].startswith("Small instances by column generation, compared with brute force.")
    *_, headings, row = before[0].splitlines()
    assert headings.endswith("time")
    assert out.splitlines()[0] == row


def test_short_compile_times_come_first(capsys, install):
    slow, fast = dataclasses.replace(STUB, name="slow", compiling=9.0), dataclasses.replace(STUB, name="fast")
    install(slow, fast)
    _, out, _ = run(capsys, "demo")
    assert [line.split(",")[0] for line in out.splitlines() if ", against " in line] == ["fast", "slow"]


def test_long_compile_times_need_an_option(capsys, install):
    install(*(dataclasses.replace(STUB, name=name, compiling=s) for name, s in (("a", 15.0), ("b", 10.0), ("c", 99.0))))
    _, out, _ = run(capsys, "demo")
    assert "a, against" in out
    assert "c, against" not in out
    assert out.endswith("colgen demo --all adds: c (about 99 s to compile).\n")
    _, out, _ = run(capsys, "demo", "--all")
    assert "c, against" in out
    assert "--all adds" not in out
    assert "c, against" in run(capsys, "demo", "c")[1]


def test_some_templates_and_one_instance_of_each(capsys, install):
    install(*(dataclasses.replace(STUB, name=name) for name in ("one", "two", "three")))
    _, out, _ = run(capsys, "demo", "three", "one", "--quick")
    assert [line.split(",")[0] for line in out.splitlines() if ", against " in line] == ["three", "one"]
    assert out.count("three [small] tasks") == 2
    assert run(capsys, "demo", "four")[0] == 2


def test_a_terminal_shows_the_running_template(capsys, install, coloured):
    coloured()
    install(dataclasses.replace(STUB, compiling=7.0))
    code, _, err = run(capsys, "demo")
    assert code == 0
    assert "stub, instance 1 of 2, 0 s" in err


def test_a_terminal_has_colours(capsys, install, monkeypatch, coloured):
    coloured()
    install(dataclasses.replace(STUB, demo=(demo(), demo(proof="Stopped at the time limit.", dual_bound=11.0))))
    _, out, _ = run(capsys, "demo")
    assert "\x1b[32m41x faster\x1b[0m" in out
    assert "\x1b[33mStopped at the time limit\x1b[0m" in out
    assert "\x1b[33mColumn generation proved 1 of 2 instances optimal" in out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run(capsys, "demo")[1]


def test_the_next_commands_need_a_demo_without_failures(capsys, install):
    install(dataclasses.replace(STUB, demo=()))
    _, out, _ = run(capsys, "demo")
    assert "No installed template has a demo." in out
    assert "Next:" not in out
    install(dataclasses.replace(STUB, demo=(demo(13.0),)))
    assert "Next:" not in run(capsys, "demo")[1]


def test_demo_interrupted(capsys, install):
    def interrupted():
        raise KeyboardInterrupt

    install(dataclasses.replace(STUB, demo=(demo(), interrupted)))
    code, out, err = run(capsys, "demo")
    assert code == 130
    assert "three" in out
    assert "Interrupted" in err


def test_a_demo_that_fails_does_not_hide_the_others(capsys, install):
    def failing():
        raise ZeroDivisionError("division by zero")

    install(dataclasses.replace(STUB, demo=(failing, demo())))
    code, out, err = run(capsys, "demo")
    assert code == 4
    assert "three" in out
    assert err.startswith("colgen, stub: unexpected ZeroDivisionError: division by zero")


def test_a_broken_template_does_not_hide_the_others(capsys, install, monkeypatch):
    load = template.load_template

    def broken(name):
        if name == "broken":
            raise ColgenError("the template 'broken' could not be loaded")
        return load(name)

    monkeypatch.setattr("colgen.cli.template.template_names", lambda: ["broken", "stub"])
    monkeypatch.setattr("colgen.cli.template.load_template", broken)
    for command in ("demo", "templates"):
        code, out, err = run(capsys, command)
        assert code == 4
        assert "stub" in out
        assert "could not be loaded" in err


@pytest.mark.parametrize(("objective", "proved"), [(1.0, True), (1.0, False), (None, False)])
def test_a_line_has_the_outcomes_of_both_methods(objective, proved):
    solved = []

    def complete(instance):
        solved.append(instance)
        return objective, proved

    small, instance = assignment(2, 3, 0), assignment(2, 4, 0)
    (line,) = demonstrations(
        lambda: instance,
        small=lambda: small,
        problem=lambda instance: instance,
        brute_force="by hand",
        complete=complete,
        possible=lambda instance: 32,
        named=lambda instance, answer: f"{len(answer)} sets of tasks",
    )
    found = line()
    assert solved[:2] == [small, instance]  # kernels are compiled before anything is measured
    assert len(solved) == 11  # a short method is timed ten times
    assert found.instance == f"{len(solve(assignment(2, 4, 0)).answer)} sets of tasks"
    assert (found.brute_force, found.columns_possible) == ("by hand", 32)
    assert (found.brute_force_objective, found.brute_force_proved) == (objective, proved)
    assert found.dual_bound == pytest.approx(found.objective)
    assert found.columns_used > 0


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({}, (1.0, True)),  # without rounding errors
        ({"values": None}, (None, True)),
        ({"status": LPStatus.LIMIT}, (1.0, False)),
    ],
)
def test_a_complete_model_may_end_without_an_answer(monkeypatch, found, expected):
    whole = MIPSolution(
        **{"status": LPStatus.OPTIMAL, "objective": 1.4, "bound": 1.0, "values": (), "nodes": 0} | found
    )
    monkeypatch.setattr("colgen.cli.demonstration.solve_complete", lambda model, limit: whole)
    assert solve_model(None, decimals=0) == expected
