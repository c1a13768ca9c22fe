"""Arguments: help that fits a screen, and usage errors."""

import pytest

from tests.cli.stub import (
    run,
)


@pytest.mark.parametrize("command", ["solve", "train", "ablation", "demo", "warm", "bench", "templates"])
def test_help_of_each_command_fits_a_screen_and_has_an_example(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"  colgen {command}" in out
    assert len(out.splitlines()) <= 50
    assert max(map(len, out.splitlines())) <= 90


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], "COMMAND"),
        (["sovle"], "invalid choice: 'sovle'"),
        (["solve", "stub", "x", "--modle"], "unrecognized arguments: --modle (see colgen solve --help)"),
        (["solve", "stub"], "FILE"),
        (["solve", "stub", "x", "--gap", "much"], "expected a number ≥ 0, not 'much'"),
        (["solve", "stub", "x", "--time-limit", "nan"], "expected a number ≥ 0, not 'nan'"),
        (["solve", "stub", "x", "--node-limit", "0"], "expected an integer ≥ 1, not '0'"),
        (["train", "stub", "--model", "m"], "--data"),
        (["train", "stub", "--model", "m", "--data", ".", "--train", "x"], "--data DIR, or --train FILE"),
        (["train", "stub", "--model", "m", "--data", ".", "--dev", "x"], "--train FILE with an optional --dev"),
        (["ablation", "stub"], "FILE"),
        (["ablation", "stub", "x", "--vary", "weather"], "invalid choice: 'weather'"),
        (["train", "stub", "--data", "."], "--model"),
        (["train", "stub", "--data", ".", "--model", "m", "--seed", "-1"], "expected an integer ≥ 0"),
    ],
)
def test_usage_errors_are_one_sentence(capsys, install, argv, expected):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
