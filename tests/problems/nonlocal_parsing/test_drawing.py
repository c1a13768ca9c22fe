"""Figures."""

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="needs the plotting extra")
matplotlib.use("Agg")

from benchmarks.nonlocal_parsing.bench import Setting, draw_candidates  # noqa: E402
from benchmarks.nonlocal_parsing.search import parse_instance  # noqa: E402
from colgen.problems.nonlocal_parsing import random  # noqa: E402


def test_curves_by_length():
    runs = [parse_instance(random(n, 0)) for n in (2, 3, 8)]
    settings = {"10": Setting(runs, 90.0), "all": Setting(runs[:2], 80.0)}
    figure = draw_candidates({"one": settings, "two": settings})
    assert len(figure.axes) == 6
    seconds, calls, accuracy = figure.axes[:3]
    assert len(seconds.lines) == len(calls.lines) == 2
    assert seconds.lines[0].get_xdata().tolist() == [3.0, 8.0]
    assert calls.lines[0].get_ydata()[1] == runs[2].calls
    assert [line.get_ydata()[0] for line in accuracy.lines] == [90.0, 80.0]
    assert [text.get_text() for text in accuracy.texts] == ["10", "all"]
    styles = [(line.get_linestyle(), line.get_marker()) for line in seconds.lines]
    assert len(set(styles)) == 2
