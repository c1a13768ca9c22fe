"""Arguments: help that fits a screen, and usage errors."""

import re
import signal
from pathlib import Path

import pytest

from colgen.certificate import checker
from colgen.cli.arguments import CLOSED_PIPE, NARROWER
from tests.cli.stub import (
    run,
)

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    ["solve", "resume", "check", "watch", "train", "ablation", "demo", "warm", "bench", "templates", "example"],
)
def test_help_of_each_command_fits_a_screen_and_has_an_example(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"  colgen {command}" in out
    assert len(out.splitlines()) <= 50
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_alone_prints_the_help(capsys):
    assert run(capsys) == run(capsys, "--help")
    assert run(capsys)[0] == 0


def test_options_may_be_abbreviated_and_files_may_look_like_them(capsys, install):
    assert (
        run(capsys, "solve", "stub", "x", "--time", "3")[2] == "colgen: x cannot be read: No such file or directory\n"
    )
    assert run(capsys, "solve", "stub", "--", "--x")[2] == "colgen: --x cannot be read: No such file or directory\n"


def test_the_help_and_the_page_list_the_exit_codes(capsys):
    every = {*range(NARROWER + 1), checker.TRUSTED, 128 + signal.SIGINT, 128 + signal.SIGTERM}
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8").split("## Exit codes")[1]
    cells = " ".join(re.findall(r"^\| ([\d, ]+) \|", page, re.MULTILINE))
    assert {int(code) for code in re.findall(r"\d+", cells)} == every | {CLOSED_PIPE}
    listed = run(capsys)[1].split("exit codes:")[1]
    assert {
        int(code) for pair in re.findall(r"^  (\d+)  |\((\d+):", listed, re.MULTILINE) for code in pair if code
    } == every


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["sovle"], "colgen: there is no command 'sovle'; did you mean 'solve'? (see colgen --help)"),
        (["rolls.txt"], "there is no command 'rolls.txt'; there are: demo, templates, example, solve, "),
        (["--verison"], "there is no option '--verison'; did you mean '--version'? (see colgen --help)"),
        (["solve", "stub", "x", "--modle=y"], "'--modle'; did you mean '--model'? (see colgen solve --help)"),
        (["train", "stub", "--modle", "y"], "'--modle'; did you mean '--model'? (see colgen train --help)"),
        (["solve", "--tim-limit", "3", "stub", "x"], "'--tim-limit'; did you mean '--time-limit'?"),
        (["demo", "--xyz"], "there is no option '--xyz' (see colgen demo --help)"),
        (["check", "a", "b", "c"], "unrecognized arguments: c (see colgen check --help)"),
        (["solve", "stub"], "FILE"),
        (["solve", "stub", "x", "--gap", "much"], "expected a number ≥ 0, not 'much'"),
        (["solve", "stub", "x", "--time-limit", "nan"], "expected a number ≥ 0, not 'nan'"),
        (["solve", "stub", "x", "--node-limit", "0"], "expected an integer ≥ 1, not '0'"),
        (["train", "stub", "--model", "m"], "--data"),
        (["train", "stub", "--model", "m", "--data", ".", "--train", "x"], "--data DIR, or --train FILE"),
        (["train", "stub", "--model", "m", "--data", ".", "--dev", "x"], "--train FILE with an optional --dev"),
        (["ablation", "stub"], "FILE"),
        (["ablation", "stub", "x", "--vary", "weather"], "expected stabilization, bounding, pricing, choice, "),
        (["ablation", "stub", "x", "--vary", "choise"], "not 'choise'; did you mean 'choice'?"),
        (
            ["solve", "stub", "x", "--subtrees", "batch"],
            "expected batches or free, not 'batch'; did you mean 'batches'?",
        ),
        (["train", "stub", "--data", "."], "--model"),
        (["train", "stub", "--data", ".", "--model", "m", "--seed", "-1"], "expected an integer ≥ 0"),
    ],
)
def test_usage_errors_are_one_sentence(capsys, install, argv, expected):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert expected in err
    assert len(err.splitlines()) == 1
