"""Draw a coloured graph on a circle, and the squares of a board as a chessboard."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from colgen import InputError
from colgen.core.text import plural
from colgen.problems.colouring.instance import ColouringInstance
from colgen.reporting.axes import COLOURS, GRID, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMED = 60
"""Maximum number of vertices whose names are readable."""

_HATCHES, _MARKERS = ("", "//", "..", "xx"), "os^D"  # distinguish classes with the same colour
_TINT = 0.5
"""Opacity of a square, on which its number is readable."""


def draw_colouring(instance: ColouringInstance, colours: Sequence[int], *, title: str = "") -> Figure:
    """Draw the squares of a board if the labels are these, else the vertices on a circle with all edges.

    Vertices on the circle are grouped by colour.  Squares show the number of their colour, counted from 1.

    Parameters
    ----------
    colours
        The colour of each vertex, the answer of a run.
    """
    if len(colours) != instance.num_vertices:
        raise InputError(f"expected a colour for each of {instance.num_vertices} vertices, not {len(colours)}")
    numbers = {colour: k for k, colour in enumerate(dict.fromkeys(colours))}
    classes = [numbers[colour] for colour in colours]
    size = math.isqrt(instance.num_vertices)
    is_board = instance.labels == tuple((i, j) for i in range(size) for j in range(size))
    figure = new_figure((5.0, 5.2) if is_board else (7.0, 7.0))
    ax = figure.subplots()
    ax.set_aspect("equal")
    ax.set_axis_off()
    if is_board:
        _draw_board(ax, size, classes)
    else:
        _draw_circle(ax, instance, classes)
    name = f"{instance.name}: " if instance.name else ""
    ax.set_title(
        title or f"{name}{plural(len(numbers), 'colour')}, {plural(instance.num_vertices, 'vertex', 'vertices')}",
        loc="left",
    )
    return figure


def _draw_board(ax: Axes, size: int, classes: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    for square, k in enumerate(classes):
        x, y = square % size, size - 1 - square // size
        face, hatch = (COLOURS[k % len(COLOURS)], _TINT), _HATCHES[k // len(COLOURS) % len(_HATCHES)]
        ax.add_patch(Rectangle((x, y), 1.0, 1.0, fc=face, ec="white", lw=2.0, hatch=hatch))
        ax.text(x + 0.5, y + 0.5, str(k + 1), ha="center", va="center", fontsize=max(6.0, 84 / size))
    ax.set_xlim(0, size)
    ax.set_ylim(0, size)


def _draw_circle(ax: Axes, instance: ColouringInstance, classes: Sequence[int]) -> None:
    from matplotlib.collections import LineCollection

    order = sorted(range(instance.num_vertices), key=lambda v: (classes[v], v))
    angle = {v: 2.0 * math.pi * k / len(order) for k, v in enumerate(order)}
    places = {v: (math.sin(a), math.cos(a)) for v, a in angle.items()}
    lines = LineCollection([(places[u], places[v]) for u, v in instance.edges], colors=GRID, linewidths=0.4, zorder=1)
    ax.add_collection(lines)
    for k in range(max(classes) + 1):
        xs, ys = zip(*(places[v] for v in order if classes[v] == k), strict=True)
        marker = _MARKERS[k // len(COLOURS) % len(_MARKERS)]
        ax.plot(xs, ys, ls="", marker=marker, ms=8, color=COLOURS[k % len(COLOURS)], mec="black", mew=0.5)
    if instance.num_vertices <= _NAMED:
        for v, (x, y) in places.items():
            ax.text(1.08 * x, 1.08 * y, str(instance.labels[v]), ha="center", va="center", fontsize="small")
    ax.set_xlim(-1.15, 1.15)
    ax.set_ylim(-1.15, 1.15)
