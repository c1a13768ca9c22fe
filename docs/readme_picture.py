"""Draw ``answer.png`` of the README: routes, and the bounds of the run that prove them shortest.

Run it in the repository: ``python docs/readme_picture.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imsave

from colgen import Result, solve
from colgen.problems.vehicle_routing import VehicleRouting, random
from colgen.problems.vehicle_routing.drawing import draw_routes
from colgen.reporting.axes import BOUND, FILL, INCUMBENT, new_axes

PICTURE = Path(__file__).with_name("answer.png")


def draw_gap(result: Result) -> Figure:
    """Draw the incumbent and the dual bound by round, with the gap between them filled."""
    axes = new_axes()
    upper = np.array([*(i.incumbent for i in result.iterations), result.objective])
    lower = np.array([*(i.global_bound for i in result.iterations), result.dual_bound])
    rounds = np.arange(len(upper))
    axes.step(rounds, upper, color=INCUMBENT, lw=2.5, where="post", label="best answer")
    axes.step(rounds, lower, color=BOUND, lw=2.5, where="post", label="dual bound")
    axes.fill_between(rounds, lower, upper, color=FILL, step="post", label="gap")
    low = 0.96 * result.objective
    axes.set_ylim(low, result.objective + 0.1 * (result.objective - low))
    axes.set_xlim(np.flatnonzero(lower > low)[0] - 1, rounds[-1] + 0.5)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel("round")
    axes.set_ylabel("distance")
    axes.set_title(f"{result.termination.value} No plan is shorter than {result.dual_bound:,.1f}", loc="left")
    axes.legend(loc="lower right", frameon=False)
    return axes.figure


def pixels(figure: Figure) -> np.ndarray:
    """Return a figure as pixels."""
    figure.set_size_inches(5.9, 4.6)
    figure.set_dpi(136)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def main() -> None:
    """Solve an instance and draw its answer beside its bounds."""
    instance = random(12, customers=25, stops=5.0, windows=False)
    result = solve(VehicleRouting(instance))
    title = f"{len(result.answer)} routes, distance {result.objective:,.1f}"
    routes = draw_routes(instance, result.answer, title=title)
    imsave(PICTURE, np.hstack([pixels(routes), pixels(draw_gap(result))]))


if __name__ == "__main__":
    main()
