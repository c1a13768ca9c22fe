"""`colgen solve`: answers, limits, diagnostics, exit codes."""

import dataclasses
import json

import pytest

import colgen
from colgen import ColgenError, Termination
from tests.cli.stub import (
    STUB,
    read,
    run,
)


def test_solve_prints_answer_bounds_and_times(capsys, install, file):
    code, out, err = run(capsys, "solve", "stub", file)
    assert code == 0
    assert err == ""  # no progress where there is no terminal
    assert out.startswith("machine ")
    for expected in (
        "Proved optimal.",
        "objective   ",
        "dual bound  ",
        "gap         0%",
        " rounds, ",
        " seconds: ",
        " processor seconds\n",
    ):
        assert expected in out


def test_workers_and_batches_of_nodes_find_the_same_answer(capsys, install, file):
    answers = []
    for asked in ((), ("--workers", 2), ("--workers", 2, "--node-batch", 3)):
        code, out, _ = run(capsys, "solve", "stub", file, *asked, "--json", "-")
        assert code == 0
        answers.append({name: json.loads(out)[name] for name in ("objective", "dual_bound", "termination")})
    assert answers[0] == answers[1] == answers[2]
    assert run(capsys, "solve", "stub", file, "--workers", 0)[0] == 2


def test_relaxation_has_no_answer(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--relaxation", "--json", "-")
    assert code == 0
    assert json.loads(out)["answer"] is None
    _, out, _ = run(capsys, "solve", "stub", file, "--relaxation")
    assert "This is the relaxation" in out
    assert "machine" not in out


def test_infeasible(capsys, install, file):
    file.write_text("2 4 9", encoding="utf-8")
    code, out, _ = run(capsys, "solve", "stub", file, "--json", "-")
    assert code == 1
    assert json.loads(out)["termination"] == "INFEASIBLE"
    _, out, _ = run(capsys, "solve", "stub", file)
    assert out.startswith("Proved infeasible")
    assert "objective   none" in out


def test_a_limit_is_reached(capsys, install, file):
    code, out, _ = run(capsys, "solve", "stub", file, "--time-limit", "0")
    assert code == 3
    assert "Stopped at the time limit." in out


@pytest.mark.parametrize("content", [b"3 x 1", b"", b"\xff\xfe\x00"])
def test_malformed_files(capsys, install, file, content):
    file.write_bytes(content)
    code, out, err = run(capsys, "solve", "stub", file)
    assert (code, out) == (2, "")
    assert str(file) in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ColgenError("the oracle is not exact"), "colgen: the oracle is not exact"),
        (ZeroDivisionError("division by zero"), "colgen: unexpected ZeroDivisionError: division by zero"),
    ],
)
def test_diagnostics(capsys, install, file, error, expected):
    def broken(instance):
        raise error

    install(dataclasses.replace(STUB, problem=broken))
    code, out, err = run(capsys, "solve", "stub", file)
    assert (code, out) == (4, "")
    assert err.startswith(expected)
    assert len(err.splitlines()) == 1


def test_a_diagnostic_shows_the_best_answer_before_it(capsys, install, file, monkeypatch):
    result = colgen.solve(read(file))

    def broken(*args, **kwargs):
        error = ColgenError("the oracle is not exact")
        error.result = dataclasses.replace(result, termination=Termination.FAULT)
        raise error

    monkeypatch.setattr("colgen.cli.solve.solve", broken)
    code, out, err = run(capsys, "solve", "stub", file)
    assert code == 4
    assert out.startswith("machine ")
    assert "Stopped by an error." in out
    assert "the oracle is not exact" in err


def test_an_interrupt_shows_the_best_answer(capsys, install, file, monkeypatch):
    result = dataclasses.replace(colgen.solve(read(file)), termination=Termination.INTERRUPTED)
    monkeypatch.setattr("colgen.cli.solve.solve", lambda *args, **kwargs: result)
    code, out, _ = run(capsys, "solve", "stub", file)
    assert code == 130
    assert out.startswith("machine ")
    assert "Interrupted by the user." in out


def test_solve_with_a_model(capsys, learning, file):
    model = file.parent / "model.txt"
    model.write_text("1", encoding="utf-8")
    _, expected, _ = run(capsys, "solve", "stub", file)  # the same instance, read from a file
    file.write_text("3 9", encoding="utf-8")
    code, out, _ = run(capsys, "solve", "stub", file, "--model", model, "--option", "tasks=6")
    assert code == 0
    assert out.splitlines()[:5] == expected.splitlines()[:5]
