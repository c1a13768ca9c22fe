"""Pictures of the gap during a run, and of several runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.core.result import Result
from colgen.core.text import percent
from colgen.core.tolerances import TOLERANCES
from colgen.reporting.axes import COLOURS, STYLES, check_by, finish, finite, focus, new_axes, title_of, write_inside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
By = Literal["round", "second"]


def primal_dual_integral(result: Result) -> float:
    """Return the integral of the gap, at most 1, over the seconds of a run; smaller is better.

    References
    ----------
    T. Berthold, *Measuring the impact of primal heuristics*, Operations Research Letters 41 (2013).
    """
    seconds, gaps = _gaps(result, "second")
    end = max(result.seconds.get("total", 0.0), seconds[-1])
    begins = np.concatenate([[0.0], seconds, [end]])
    return float(np.diff(begins) @ np.minimum(np.concatenate([[1.0], gaps]), 1.0))


def gap(result: Result | Mapping[str, Result], by: By = "second", ax: Axes | None = None) -> Axes:
    """Draw the gap of one run or several by name on a logarithmic axis. A star marks a closed gap."""
    ax = new_axes() if ax is None else ax
    floor = 100.0 * TOLERANCES.optimality
    top, is_drawn = 10.0 * floor, False
    for name, each, (style, marker), colour in _name_runs(result, by):
        x, gaps = _gaps(each, by)
        shown = np.where(np.isfinite(gaps), np.maximum(100.0 * gaps, floor), math.nan)
        look = _look(colour, style, marker, len(x))
        ax.step(x, shown, where="post", lw=1.4, label=name, **look)
        is_drawn = is_drawn or bool(np.isfinite(shown).any())
        top = max(top, *shown[np.isfinite(shown)].tolist(), floor)
        if gaps[-1] == 0.0:
            ax.plot(x[-1:], [floor], color=colour, ls="", marker="*", ms=11, clip_on=False)
    ax.set_ylim(floor, 2.0 * top)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda value, _: "0%" if value < 1.1 * floor else percent(value / 100.0))
    ax.set_ylabel("gap (share of the objective, logarithmic)")
    if not is_drawn:
        write_inside(ax, "no gap: no answer or no bound")
    return _finish(ax, by, title_of("Gap (a star: proved optimal)", *_results(result).values()))


def runs(results: Mapping[str, Result], by: By = "second", ax: Axes | None = None) -> Axes:
    """Draw several runs of one problem: the incumbent of each (thick) and its dual bound (thin)."""
    ax = new_axes() if ax is None else ax
    typical: list[float] = []
    for name, each, (style, marker), colour in _name_runs(results, by):
        x = _horizontal(each, by)
        bounds = finite([*(i.global_bound for i in each.iterations), each.dual_bound])
        last = math.nan if each.answer is None else each.objective
        answers = finite([*(i.incumbent for i in each.iterations), last])
        look = _look(colour, style, marker, len(x))
        ax.step(x, answers, where="post", lw=2.2, label=f"{name}: best answer", **look)
        ax.plot(x[-1:], answers[-1:], color=colour, ls="", marker="*", ms=9)
        ax.plot(x, bounds, lw=1.0, label=f"{name}: bound", **look)
        typical += [bounds[len(bounds) // 2], bounds[-1], answers[len(answers) // 2], answers[-1]]
    focus(ax, typical)
    ax.set_ylabel("objective (the problem's units)")
    return _finish(ax, by, title_of("Answers and bounds", *results.values()))


def _name_runs(result: Result | Mapping[str, Result], by: str) -> zip[tuple[str, Result, tuple[str, str], str]]:
    check_by(by)
    results = _results(result)
    if not results or not all(isinstance(each, Result) for each in results.values()):
        raise InputError("expected a result, or several by name")
    return zip(results, results.values(), itertools.cycle(STYLES), itertools.cycle(COLOURS), strict=False)


def _results(result: Result | Mapping[str, Result]) -> Mapping[str, Result]:
    return {"": result} if isinstance(result, Result) else result


def _look(colour: str, style: str, marker: str, count: int) -> dict[str, Any]:
    return {"color": colour, "ls": style, "marker": marker, "ms": 4, "markevery": max(1, count // 8)}


def _finish(ax: Axes, by: str, title: str) -> Axes:
    ax.set_xlabel("round" if by == "round" else "time (seconds)")
    ax.set_title(title, loc="left")
    finish(ax)
    return ax


def _horizontal(result: Result, by: str) -> Floats:
    """Return the positions of the rounds and of the end."""
    rounds = result.iterations
    if by == "round":
        return np.arange(len(rounds) + 1, dtype=np.float64)
    last = rounds[-1].seconds if rounds else 0.0
    return np.array([*(i.seconds for i in rounds), max(result.seconds.get("total", 0.0), last)])


def _gaps(result: Result, by: str) -> tuple[Floats, Floats]:
    gaps = [*(record.gap(result.sense) for record in result.iterations), result.gap]
    return _horizontal(result, by), np.array(gaps, dtype=np.float64)
