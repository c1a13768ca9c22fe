"""Figures without pyplot, and without matplotlib."""

import builtins
import importlib.util
import sys

import pytest

from colgen.reporting.axes import BOUND, INSTALL, MASTER, can_draw, new_axes, new_figure, set_integer_ticks, shades


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
