"""Draw routes on a map, and their stops within the time windows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError
from colgen.core.text import plural
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.reporting.axes import COLOURS, FILL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES = ("-", "--", "-.", ":")  # distinguish routes with the same colour
_NAMED = 50
"""Maximum number of customers whose numbers and time windows are readable."""


def draw_routes(instance: RoutingInstance, routes: Sequence[Sequence[int]], *, title: str = "") -> Figure:
    """Draw the routes as arrows through the customers' coordinates, and the starts of service in the time windows.

    Legs from and to the depot are thin.  Time windows are drawn for at most 50 customers.

    Parameters
    ----------
    routes
        The answer of a run.

    Raises
    ------
    InputError
        If there are no routes, or the instance has no coordinates.
    """
    if not routes:
        raise InputError("there are no routes to draw: expected at least one")
    if instance.places is None:
        raise InputError("drawing routes needs an instance with coordinates; this one has only distances")
    places = np.array(instance.places)
    # Neighbouring routes get colours that are far apart.
    angles = [float(np.arctan2(*(places[list(route)].mean(axis=0) - places[0])[::-1])) for route in routes]
    ordered = [routes[k] for k in np.argsort(angles).tolist()]
    if instance.windows is None or instance.num_customers > _NAMED:
        figure = new_figure((7.5, 7.0))
        ax = figure.subplots()
    else:
        figure = new_figure((12.0, max(6.5, 0.12 * (instance.num_customers + len(routes)))))
        ax, right = figure.subplots(1, 2, width_ratios=(3, 2))
        _draw_windows(right, instance, ordered)
    _draw_map(ax, instance, ordered)
    name = f"{instance.name}: " if instance.name else ""
    customers = plural(instance.num_customers, "customer")
    distance = f"{instance.total(routes):,.10g}"
    ax.set_title(title or f"{name}{plural(len(routes), 'route')}, {customers}, distance {distance}", loc="left")
    return figure


def _draw_map(ax: Axes, instance: RoutingInstance, routes: Sequence[Sequence[int]]) -> None:
    assert instance.places is not None
    named = instance.num_customers <= _NAMED
    size = 14.0 if named else 5.0
    for rank, route in enumerate(routes):
        colour, style = _look(rank)
        for i, j in pairwise((0, *route, 0)):
            arrow = {"arrowstyle": "-|>", "color": colour, "ls": style, "lw": 1.8 if i and j else 0.7}
            arrow |= {"shrinkA": size / 2, "shrinkB": size / 2, "mutation_scale": 11.0 if named else 7.0}
            ax.annotate("", instance.places[j], instance.places[i], arrowprops=arrow, zorder=1)
        stops = [instance.places[i] for i in route]
        ax.plot(*zip(*stops, strict=True), color=colour, mfc="white", ls="", marker="o", ms=size)
        for i in route if named else ():
            ax.text(*instance.places[i], str(i), ha="center", va="center_baseline", fontsize="small")
    ax.plot(*instance.places[0], marker="s", ms=10.0, color="black", ls="")
    box = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
    ax.annotate("depot", instance.places[0], (0, -9), textcoords="offset points", ha="center", va="top", bbox=box)
    ax.set_aspect("equal", anchor="N")
    ax.set_xlabel("x (the instance's units of distance)")
    ax.set_ylabel("y (the instance's units of distance)")
    ax.spines[["top", "right"]].set_visible(False)


def _draw_windows(ax: Axes, instance: RoutingInstance, routes: Sequence[Sequence[int]]) -> None:
    """Draw a row for each customer: its time window as a bar, and the earliest start of service as a point."""
    assert instance.windows is not None
    ax.use_sticky_edges = False  # leaves space for the first points
    ticks: dict[int, int] = {}
    for rank, route in enumerate(routes):
        rows = range(len(ticks) + rank, len(ticks) + rank + len(route))  # an empty row between two routes
        ticks.update(zip(rows, route, strict=True))
        for row, i in zip(rows, route, strict=True):
            ready, due = instance.windows[i]
            ax.barh(row, due - ready, left=ready, color=FILL)
        colour, style = _look(rank)
        ax.plot(instance.times(route)[:-1], rows, color=colour, ls=style, lw=1.8, marker="o", ms=5)
    ax.set_yticks(list(ticks), [str(i) for i in ticks.values()], fontsize="x-small" if len(ticks) > 30 else "small")
    ax.set_ylim(max(ticks) + 0.7, -0.7)
    ax.set_xlabel("time (the instance's units)")
    ax.set_ylabel("customer")
    ax.set_title("bars: time windows; points: service begins", loc="left")
    ax.spines[["top", "right"]].set_visible(False)


def _look(rank: int) -> tuple[str, str]:
    """Return the colour and the line style of a route."""
    return COLOURS[rank % len(COLOURS)], _STYLES[rank // len(COLOURS) % len(_STYLES)]
