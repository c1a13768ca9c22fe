"""Rounds as they come."""

import dataclasses
import math

import pytest

from colgen import Sense, solve
from colgen.reporting.progress import HEADER, line
from tests.core.test_stop import ROUND
from tests.toys import CuttingStock


def test_a_line_lies_under_its_header():
    text = line(dataclasses.replace(ROUND, incumbent=12.0, global_bound=6.0, seconds=3.14159), Sense.MINIMIZE)
    assert len(text) == len(HEADER)
    assert text.split() == ["0", "0", "2", "10.000000", "6.000000", "12.000000", "50.00", "1", "1", "1", "3.14"]
    for title, value in [("objective", "10.000000"), ("bound", "6.000000"), ("incumbent", "12.000000")]:
        assert text.index(value) + len(value) == HEADER.index(title) + len(title)


def test_what_is_not_known_is_a_dash():
    text = line(dataclasses.replace(ROUND, dual_bound=-math.inf), Sense.MINIMIZE)
    assert "inf" not in text
    assert "nan" not in text
    assert text.split().count("-") == 3  # bound, incumbent, gap


def test_own_listener_hears_every_round():
    heard = []
    result = solve(CuttingStock(), progress=heard.append)
    assert heard == list(result.iterations)


def test_lines_where_there_is_no_terminal(capsys):
    result = solve(CuttingStock(), progress=True)
    captured = capsys.readouterr()
    assert captured.out == ""  # results go to the output, progress to the error stream
    lines = captured.err.splitlines()
    assert lines[0] == HEADER
    numbers = [int(text.split()[0]) for text in lines[1:]]
    assert numbers[:10] == list(range(min(10, len(result.iterations))))
    assert numbers[-1] == len(result.iterations) - 1  # the last round is shown in any case


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
