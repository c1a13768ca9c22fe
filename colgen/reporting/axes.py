"""Figures that belong to the caller alone, and what is said where there is no matplotlib to make them."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Told apart by colour-blind readers too, and by their lightness on paper (Okabe and Ito, 2008)."""

MASTER, BOUND, INCUMBENT, NODE = COLOURS[:4]
"""Of the restricted master, the bound on all answers, the best answer, and the bound of a node, in every picture."""

FILL, GRID = "#C9DFEE", "0.8"

STYLES = tuple((line, marker) for marker in ("", "o", "^", "s") for line in ("-", "--", "-.", ":"))
"""So many lines are told apart without a colour."""

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


def finish(ax: Axes, beside: bool = False, whole: bool = True) -> None:
    """Grid, whole numbers for rounds if ``whole``, and a legend below or beside the axes, where it hides nothing."""
    ax.grid(True, color=GRID, linewidth=0.4)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if whole and ax.get_xlabel() != "time (seconds)":
        whole_numbers(ax.xaxis)
    if not ax.get_legend_handles_labels()[0]:
        return
    if beside:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small", frameon=False)
