"""The program as a whole: version, help, exit codes, pipes and signals."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import colgen
from colgen.cli import main as cli
from colgen.cli.arguments import CLOSED_PIPE
from tests.cli.stub import (
    run,
)


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"colgen {colgen.__version__}\n", "")


def test_help_is_one_screen_with_an_example_for_each_command(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert len(out.splitlines()) <= 41
    for command in ("solve", "train", "demo", "bench", "templates"):
        assert f"  colgen {command}" in out
    for exit_code in ("0", "1", "2", "3", "4", "130"):
        assert f"\n  {exit_code}  " in out


def test_traceback_on_request(capsys, install, file):
    file.write_text("?", encoding="utf-8")
    code, _, err = run(capsys, "solve", "stub", file, "--traceback")
    assert code == 2
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("colgen: ")


PROGRAM = """
import sys
from tests.cli import stub
from colgen.cli import main as cli
from colgen.cli import template
template.template_names = lambda: ["stub"]
template.load_template = lambda name: stub.STUB
sys.exit(cli.main())
"""


CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell in the background switches off
from tests.assignment import Knapsack
best = Knapsack.best
calls = []
def interrupted(*arguments):
    calls.append(arguments)
    if len(calls) == 20:
        signal.raise_signal(signal.SIGINT)
    return best(*arguments)
Knapsack.best = interrupted
"""


def program(*argv, before="", **options) -> subprocess.Popen:
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", before + PROGRAM, *map(str, argv)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(os.name != "posix", reason="a pipe closed by its reader")
def test_a_closed_pipe_is_no_error(file):
    reading, writing = os.pipe()
    os.close(reading)
    process = program("solve", "stub", file, stdout=writing)
    os.close(writing)
    _, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == CLOSED_PIPE


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_with_130(file):
    file.write_text("4 9 1", encoding="utf-8")
    process = program("solve", "stub", file, before=CTRL_C, stdout=subprocess.PIPE)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == ""
    assert "Interrupted by the user." in out


def test_ctrl_c_while_signals_begin_to_be_handled_ends_with_130(monkeypatch, capsys):
    @contextlib.contextmanager
    def interrupted():
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(cli, "handling_signals", interrupted)
    assert cli.main(["templates"]) == 130
    assert "Interrupted by the user." in capsys.readouterr().err


def test_the_installed_program_solves_a_file(tmp_path):
    installed = shutil.which("colgen", path=str(Path(sys.executable).parent))
    if installed is None:
        pytest.skip("colgen is not installed as a program")
    path = tmp_path / "rolls.txt"
    path.write_text("4\n100\n45 97\n36 610\n31 395\n14 211\n", encoding="utf-8")  # Chvátal, Linear Programming
    command = [installed, "solve", "cutting_stock", str(path), "--json", str(tmp_path / "answer.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Proved optimal." in done.stdout
    content = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    assert content["objective"] == 453
    assert sum(pattern["rolls"] for pattern in content["answer"]) == 453


def test_the_package_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "colgen", "--version"], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert colgen.__version__ in done.stdout


def test_quotations_in_errors_stay_one_short_line(capsys, tmp_path):
    path = tmp_path / ("a\nb\x1b[31m" + "x" * 200)
    code, out, err = run(capsys, "solve", "cutting_stock", str(path))
    assert (code, out) == (2, "")
    assert err.endswith("No such file or directory\n")
    assert "\\n" in err
    assert "\\x1b" in err
    assert len(err) <= 301
    assert err[:-1].isprintable()
    code, out, err = run(capsys, "solve", "cutting_stock", "f", "--time-limit", "9\n" * 400)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) <= 301
