"""Figures without pyplot, and the message without matplotlib."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    from colgen.core.result import Result

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Distinguishable for colour-blind readers, and by lightness on paper (Okabe and Ito, 2008)."""

MASTER, BOUND, INCUMBENT, NODE = COLOURS[:4]
"""Colours of the restricted master, the dual bound, the incumbent and the bound of a node in all pictures."""

FILL, GRID = "#C9DFEE", "0.8"

STYLES = tuple((line, marker) for marker in ("", "o", "^", "s") for line in ("-", "--", "-.", ":"))
"""Line styles and markers that distinguish this many lines without colours."""

INSTALL = "pip install colgen[plotting]"
"""The command that installs matplotlib."""


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches. Without matplotlib, raise an ``ImportError`` with the remedy."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"pictures need matplotlib: {INSTALL}") from error
    return Figure(figsize=size, layout="constrained")


def new_axes(size: tuple[float, float] = (6.4, 4.2)) -> Axes:
    """Return the axes of a new figure."""
    axes: Axes = new_figure(size).subplots()
    return axes


def shades(*colours: str) -> LinearSegmentedColormap:
    """Return a map of values to colours, interpolated between the given ones from the least to the largest value."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("shades", colours)


def check_by(by: str) -> None:
    """Raise an ``InputError`` unless a horizontal axis is named ``round`` or ``second``."""
    if by not in ("round", "second"):
        raise InputError(f"by: expected 'round' or 'second', not {by!r}")


def finite(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace infinite values, which are not drawn, by NaN."""
    return np.where(np.isfinite(values), values, math.nan)


def focus(ax: Axes, typical: Sequence[float]) -> None:
    """Limit the vertical axis to typical values: early bounds are weak and would flatten the rest."""
    shown = [value for value in typical if math.isfinite(value)]
    if shown and max(shown) > min(shown):
        margin = 0.1 * (max(shown) - min(shown))
        ax.set_ylim(min(shown) - margin, max(shown) + margin)


def set_integer_ticks(axis: Axis) -> None:
    """Set integer ticks on an axis."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def set_few_ticks(axis: Axis) -> None:
    """Set a few ticks on a logarithmic axis of less than a power of ten."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    axis.set_major_locator(MaxNLocator(5))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def write_inside(ax: Axes, text: str) -> None:
    """Write a text instead of data that are missing, and remove the vertical ticks."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", bbox={"facecolor": "white", "edgecolor": "none"})
    ax.set_yticks([], [])
    ax.set_yticks([], [], minor=True)


def title_of(what: str, *results: Result) -> str:
    """Return the title of a picture, with the name of the problem if all results have the same."""
    names = {result.settings.get("problem", "") for result in results}
    name = names.pop() if len(names) == 1 else ""
    return f"{what}: {name}" if name else what


def finish(ax: Axes, legend_right: bool = False, integer_ticks: bool = True) -> None:
    """Add a grid, integer ticks for rounds, and a legend below or right of the axes, where it hides nothing."""
    ax.grid(True, color=GRID, linewidth=0.4)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    if integer_ticks and ax.get_xlabel() != "time (seconds)":
        set_integer_ticks(ax.xaxis)
    if not ax.get_legend_handles_labels()[0]:
        return
    if legend_right:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small", frameon=False)
