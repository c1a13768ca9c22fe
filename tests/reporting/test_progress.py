"""Progress of rounds."""

import dataclasses
import io
import math
import sys
import threading
import types

import pytest
from rich.console import Console

from colgen import Method, NodeLimit, Sense, solve
from colgen.reporting import progress
from colgen.reporting.progress import HEADER, Pace, line, quiet
from tests.core.test_stop import ROUND
from tests.toys import CuttingStock
from tests.zoo import Partitioning


def test_a_line_is_aligned_with_the_header():
    text = line(dataclasses.replace(ROUND, incumbent=12.0, global_bound=6.0, seconds=3.14159), Sense.MINIMIZE, 46)
    assert len(text) == len(HEADER)
    assert text.split() == ["0", "46", "2", "10.000000", "6.000000", "12.000000", "50.00", "1", "1", "1", "3.14"]
    for title, value in [("objective", "10.000000"), ("bound", "6.000000"), ("incumbent", "12.000000")]:
        assert text.index(value) + len(value) == HEADER.index(title) + len(title)


def test_unknown_values_are_dashes():
    text = line(dataclasses.replace(ROUND, dual_bound=-math.inf), Sense.MINIMIZE, 1)
    assert "inf" not in text
    assert "nan" not in text
    assert text.split().count("-") == 3  # bound, incumbent, gap


def test_a_listener_receives_every_round():
    heard = []
    result = solve(CuttingStock(), progress=heard.append)
    assert heard == list(result.iterations)


def test_lines_without_a_terminal(capsys):
    result = solve(CuttingStock(), progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""  # progress goes to the error stream
    lines = captured.err.splitlines()
    assert lines[0] == HEADER
    numbers = [int(text.split()[0]) for text in lines[1:]]
    assert numbers[:10] == list(range(min(10, len(result.iterations))))
    assert numbers[-1] == len(result.iterations) - 1  # the last round is shown in any case


def test_the_log_counts_nodes_as_the_summary_does(capsys):
    result = solve(Partitioning(9, 3, cuts=False), method=Method(heuristics=[]), stop=NodeLimit(46), progress=True)
    assert len(result.nodes) == 46
    assert max(iteration.node for iteration in result.iterations) > 46
    assert int(capsys.readouterr().err.splitlines()[-1].split()[1]) == 46


def test_silence(capsys):
    solve(CuttingStock())
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_error_of_a_listener_reaches_the_caller():
    def fail(iteration):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        solve(CuttingStock(), progress=fail)
    assert len(caught.value.result.iterations) == 1


def test_a_live_line_names_what_is_done_and_the_kernel_that_is_being_compiled(monkeypatch):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    calls = threading.Semaphore(0)

    def doing():
        calls.release()
        return "reading rolls.txt"

    monkeypatch.setattr(progress, "Console", lambda stderr: console)
    monkeypatch.setattr(progress, "compiled_now", lambda: "solvers.paths.search.advance")
    with progress.showing(doing):
        assert calls.acquire(timeout=30)
    text = console.file.getvalue()
    assert "reading rolls.txt: compiling search.advance, 0 s" in text
    assert text.endswith("\x1b[2K")  # the line is removed


def test_no_live_line_without_a_terminal(capsys):
    with progress.showing(lambda: "reading"):
        pass
    assert capsys.readouterr() == ("", "")


def test_a_terminal_names_the_kernel_that_is_being_compiled(monkeypatch):
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    now, calls = ["solvers.paths.search.advance"], threading.Semaphore(0)

    def compiled_now():
        calls.release()
        return now[0]

    monkeypatch.setattr(progress, "compiled_now", compiled_now)
    monkeypatch.setattr(progress, "compile_seconds", lambda: 3.2)
    with progress._live(console, Sense.MINIMIZE) as listen:
        for _ in range(4):  # each picture is written before the next
            assert calls.acquire(timeout=30)
        now[0] = ""
        listen(ROUND)
    text = console.file.getvalue()
    assert "compiling search.advance (once per machine; 3 s so far)" in text
    last = text.rsplit("round 0, 1 node, ", 1)
    assert len(last) == 2
    assert "compiling" not in last[1]


class Notebook:
    """A fake of ``IPython.display`` that stores the texts of one line."""

    def __init__(self, monkeypatch):
        self.shown = []
        ipython = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=self))
        display = types.SimpleNamespace(display=self.display, Pretty=str)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, text, display_id):
        assert display_id
        return types.SimpleNamespace(update=self.shown.append)


def test_one_line_in_a_notebook(monkeypatch, capsys):
    notebook = Notebook(monkeypatch)
    result = solve(CuttingStock(), progress=True)
    assert capsys.readouterr().err == ""
    assert notebook.shown[0].startswith("round 0, 1 node, ")
    assert notebook.shown[-1].startswith(f"round {len(result.iterations) - 1}, ")
    assert all("\n" not in text for text in notebook.shown)


def test_the_notebook_line_of_a_round():
    pace = Pace()
    round_0 = dataclasses.replace(ROUND, number=1200, incumbent=12.0, global_bound=6.0, seconds=3.0)
    assert quiet(round_0, Sense.MINIMIZE, pace, 7) == "round 1,200, 7 nodes, best answer 12, bound 6, gap 50%, 3.0 s"
    for seconds, gap in ((0.0, 0.9), (2.0, 0.5), (4.0, 0.1)):
        pace.look(seconds, gap)
    assert quiet(round_0, Sense.MINIMIZE, pace, 1).endswith("3.0 s, about 1 s left at this pace")
    before = dataclasses.replace(ROUND, incumbent=math.inf, global_bound=-math.inf, dual_bound=-math.inf)
    assert quiet(before, Sense.MINIMIZE, Pace(), 1).startswith("round 0, 1 node, restricted master 10, ")


def test_pace_is_that_of_the_second_half():
    pace = Pace()
    assert pace.left == math.inf
    for seconds, gap in ((1.0, math.inf), (2.0, 0.9), (6.0, 0.5), (10.0, 0.3)):
        pace.look(seconds, gap)
    assert pace.left == pytest.approx(0.3 * 4.0 / 0.2)
    pace.look(20.0, 0.3)
    assert pace.left == math.inf  # nothing was closed since
