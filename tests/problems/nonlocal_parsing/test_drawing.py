"""Pictures."""

import pytest

matplotlib = pytest.importorskip("matplotlib", reason="needs the plotting extra")
matplotlib.use("Agg")

from problems.nonlocal_parsing import random  # noqa: E402
from problems.nonlocal_parsing.drawing import draw_by_length, draw_tree  # noqa: E402
from problems.nonlocal_parsing.measuring import parse_instance  # noqa: E402


def test_a_tree_has_an_arc_a_word():
    ax = draw_tree(("a", "b", "c"), (2, 0, 2), marked=[(2, 3)])
    assert [text.get_text() for text in ax.texts if text.get_text()] == ["a", "b", "c"]
    colours = [line.get_color() for line in ax.lines]
    assert colours == ["tab:blue", "tab:red"]
    assert draw_tree(("a",), (0,), ax) is ax
    matplotlib.pyplot.close("all")


def test_curves_by_length():
    runs = [parse_instance(random(n, 0)) for n in (2, 3, 8)]
    figure = draw_by_length({"k = 10": runs, "all": runs[:2]})
    seconds, calls = figure.axes
    assert len(seconds.lines) == len(calls.lines) == 2
    assert seconds.lines[0].get_xdata().tolist() == [3.0, 8.0]
    assert calls.lines[0].get_ydata()[1] == runs[2].calls
    matplotlib.pyplot.close("all")
