"""Figures without pyplot, and without matplotlib."""

import builtins
import dataclasses
import importlib.util
import sys

import pytest

from colgen import solve
from colgen.problems.cutting_stock import CuttingStock as Rolls
from colgen.problems.cutting_stock import CuttingStockInstance
from colgen.reporting.axes import (
    BOUND,
    INSTALL,
    MASTER,
    can_draw,
    new_axes,
    new_figure,
    set_few_ticks,
    set_integer_ticks,
    shades,
    title_of,
    write_inside,
)
from tests.toys import CuttingStock


def test_pyplot_does_not_keep_a_new_figure():
    pytest.importorskip("matplotlib", reason="needs the plotting extra")
    ax = new_axes((3.0, 2.0))
    assert ax.figure.get_size_inches().tolist() == [3.0, 2.0]
    if "matplotlib.pyplot" in sys.modules:
        assert sys.modules["matplotlib.pyplot"].get_fignums() == []
    ax.plot([0, 1], [0, 1])
    set_integer_ticks(ax.xaxis)
    assert all(tick == round(tick) for tick in ax.get_xticks())


def test_the_error_without_matplotlib_has_the_command(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError) as told:
        new_figure((3.0, 2.0))
    assert INSTALL in str(told.value)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert not can_draw()


def test_shades_lead_from_the_first_colour_to_the_last():
    from matplotlib.colors import to_rgba

    map_of_values = shades(BOUND, "white", MASTER)
    assert map_of_values(0.0) == pytest.approx(to_rgba(BOUND))
    assert min(map_of_values(0.5)[:3]) > 0.98
    assert map_of_values(1.0) == pytest.approx(to_rgba(MASTER))


def test_titles_name_the_problem_of_all_results():
    first = solve(CuttingStock(), time_limit=0)
    second = solve(Rolls(CuttingStockInstance(10, (3, 4), (4, 3), "four rolls")), time_limit=0)
    assert title_of("Bounds", first, first) == "Bounds: CuttingStock"
    assert title_of("Bounds", second) == "Bounds: CuttingStock four rolls"
    assert title_of("Bounds", first, second) == "Bounds"
    assert title_of("Bounds", dataclasses.replace(first, settings={})) == "Bounds"


def test_a_text_replaces_missing_data_and_short_logarithmic_axes_have_ticks():
    pytest.importorskip("matplotlib", reason="needs the plotting extra")
    ax = new_axes((3.0, 2.0))
    write_inside(ax, "no round")
    assert [text.get_text() for text in ax.texts] == ["no round"]
    assert not len(ax.get_yticks())
    ax.set_xscale("log")
    ax.set_xlim(1.0, 1.7)
    set_few_ticks(ax.xaxis)
    ax.figure.canvas.draw()
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert 3 <= len(shown) <= 7
    assert not any("\\" in text for text in shown)
