"""Draw a coloured graph on a circle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from colgen import InputError
from colgen.problems.colouring.instance import ColouringInstance
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMED = 60
"""Maximum number of vertices whose names are readable."""


def draw_colouring(instance: ColouringInstance, colours: Sequence[int], *, title: str = "") -> Figure:
    """Draw the vertices on a circle, grouped by colour, with all edges.

    Parameters
    ----------
    colours
        The colour of each vertex, the answer of a run.
    """
    if len(colours) != instance.num_vertices:
        raise InputError(f"expected a colour for each of {instance.num_vertices} vertices, not {len(colours)}")
    order = sorted(range(instance.num_vertices), key=lambda v: (colours[v], v))
    angle = {v: 2.0 * math.pi * k / len(order) for k, v in enumerate(order)}
    places = {v: (math.sin(a), math.cos(a)) for v, a in angle.items()}
    numbers = {colour: k for k, colour in enumerate(sorted(set(colours)))}
    figure = new_figure((7.0, 7.0))
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    shades = colormaps["nipy_spectral"]
    ax = figure.subplots()
    lines = LineCollection([(places[u], places[v]) for u, v in instance.edges], colors="0.8", linewidths=0.4, zorder=1)
    ax.add_collection(lines)
    for colour, k in numbers.items():
        members = [v for v in order if colours[v] == colour]
        xs, ys = zip(*(places[v] for v in members), strict=True)
        ax.scatter(xs, ys, s=60, color=[shades((k + 0.5) / len(numbers))], ec="0.0", lw=0.5, zorder=2)
    if instance.num_vertices <= _NAMED:
        for v, (x, y) in places.items():
            ax.text(1.08 * x, 1.08 * y, str(instance.labels[v]), ha="center", va="center", fontsize="x-small")
    ax.set_aspect("equal")
    ax.set_xlim(-1.2, 1.2)
    ax.set_ylim(-1.2, 1.2)
    ax.set_axis_off()
    ax.set_title(title or f"{len(numbers)} colours, vertices grouped by colour", loc="left")
    return figure
