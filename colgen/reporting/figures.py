"""Figures that belong to the caller alone, and what is said where there is no matplotlib to make them."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INSTALL = "pip install colgen[plotting]"
"""How to get what draws."""


def can_draw() -> bool:
    """Whether matplotlib is there."""
    return importlib.util.find_spec("matplotlib") is not None


def new_figure(size: tuple[float, float]) -> Figure:
    """An empty figure of so many inches, which belongs to the caller alone.

    Raises
    ------
    ImportError
        Without matplotlib; the message says how to get it.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib: {INSTALL}") from error
    return Figure(figsize=size, layout="constrained")


def new_axes(size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """Of a new figure."""
    axes: Axes = new_figure(size).subplots()
    return axes


def whole_numbers(axis: Axis) -> None:
    """Ticks of an axis at whole numbers alone, one or more."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
