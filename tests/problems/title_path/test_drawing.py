import math

import pytest

pytest.importorskip("matplotlib")

from colgen import InputError, solve
from colgen.problems.title_path import TitlePath, random
from colgen.problems.title_path.command import docstring_graph
from colgen.problems.title_path.drawing import draw_convergence, draw_path


def drawn(axes):
    return [artist.get_text() for artist in axes.texts if artist.get_text()]


def test_convergence_is_a_share_of_instances(tmp_path):
    figure = draw_convergence([1, 3, 3, 7])
    (axes,) = figure.axes
    steps = axes.lines[0]
    assert list(steps.get_xdata())[:-1] == [1.0, 1, 3, 3, 7]
    assert list(steps.get_ydata())[:-1] == [0.0, 25.0, 50.0, 75.0, 100.0]
    assert "100% after 7" in drawn(axes)
    figure.savefig(tmp_path / "convergence.png")


def test_unsolved_instances_lower_the_curve(tmp_path):
    figure = draw_convergence([1, 2, math.inf, 300])
    (axes,) = figure.axes
    assert max(axes.lines[0].get_ydata()) == 75.0
    assert axes.get_xscale() == "log"
    figure.savefig(tmp_path / "convergence.png")
    draw_convergence([math.inf]).savefig(tmp_path / "convergence.png")


def test_missing_measurements_raise():
    with pytest.raises(InputError, match="no measurements"):
        draw_convergence([])


def test_path_is_drawn_with_its_words(tmp_path):
    instance = docstring_graph("networkx", 60, 3)
    path = solve(TitlePath(instance)).answer
    figure = draw_path(instance, path, title="Title")
    (axes,) = figure.axes
    assert set(map(str, instance.words(path))) | {"source", "sink"} <= set(drawn(axes))
    assert axes.get_title(loc="left") == "Title"
    figure.savefig(tmp_path / "path.png")


@pytest.mark.parametrize(("n", "k"), [(1, 1), (3, 3), (40, 6)])
def test_graphs_of_any_size_are_drawn(tmp_path, n, k):
    instance = random(n, k, 0)
    draw_path(instance, solve(TitlePath(instance)).answer, most=12).savefig(tmp_path / "path.png")
