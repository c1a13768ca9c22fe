"""Draw routes on a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError
from colgen.problems.vehicle_routing.instance import RoutingInstance
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = ("-", "--", "-.", ":")  # distinguish routes with the same colour


def draw_routes(instance: RoutingInstance, routes: Sequence[Sequence[int]], *, title: str = "") -> Figure:
    """Draw the routes through the customers' coordinates.  Legs from and to the depot are thin.

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
    figure = new_figure((7.5, 7.0))
    from matplotlib import colormaps

    ax = figure.subplots()
    # Neighbouring routes get colours that are far apart.
    angles = [float(np.arctan2(*(places[list(route)].mean(axis=0) - places[0])[::-1])) for route in routes]
    for rank, k in enumerate(np.argsort(angles).tolist()):
        colour = colormaps["tab10"](rank % 10)
        stops = places[list(routes[k])]
        ax.plot(*stops.T, color=colour, lw=1.8, ls=_STYLES[rank // 10 % len(_STYLES)], marker="o", ms=4.5)
        for end in (stops[0], stops[-1]):
            ax.plot(*np.array([places[0], end]).T, color=colour, lw=0.6, zorder=0)
    if instance.num_customers <= 60:
        for i in instance.customers:
            ax.annotate(str(i), places[i], textcoords="offset points", xytext=(3, 3), fontsize="x-small", color="0.3")
    ax.plot(*places[0], marker="s", ms=9, color="0.0", ls="")
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.spines[["top", "right"]].set_visible(False)
    distance = f"{instance.total(routes):,.10g}"
    ax.set_title(
        title or f"{len(routes)} routes over {instance.num_customers} customers, distance {distance}", loc="left"
    )
    return figure
