"""Figures: convergence of colour coding, and a graph with its best path.

As in :mod:`colgen.reporting.plotting`, the caller owns the figure, and colour is never the only distinction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError
from colgen.problems.title_path.instance import Path, PathInstance
from colgen.reporting.axes import FILL, MASTER, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LETTER, _MARGIN, _GAP, _ROW = 0.1, 0.24, 0.75, 0.5
"""Inches: width of a letter, margin around a word, gap between columns, distance of rows."""


def draw_convergence(iterations: Sequence[float]) -> Figure:
    """Draw the share of instances whose optimum is found, by iteration of colour coding.

    This is the second figure of Deshpande et al. (2007).

    Parameters
    ----------
    iterations
        Iteration that found the optimum of each instance; inf if none did.
    """
    if not len(iterations):
        raise InputError("no measurements to draw")
    figure = new_figure((6.0, 3.8))
    ax = figure.subplots()
    ended = sorted(iterations)
    most = max([i for i in ended if i < math.inf], default=1.0)
    shares = [100.0 * (k + 1) / len(ended) for k in range(len(ended))]
    x = [1.0, *[i for i in ended if i < math.inf], 2.5 * most]
    y = [0.0, *[s for i, s in zip(ended, shares, strict=True) if i < math.inf]]
    ax.step(x, [*y, y[-1]], where="post", color=MASTER, lw=1.4)
    for share in (90.0, 100.0):
        reached = ended[max(0, math.ceil(share / 100.0 * len(ended)) - 1)]
        if reached < math.inf:
            ax.plot([reached], [share], "o", mfc="white", mec=MASTER, ms=6)
            ax.annotate(
                f"{share:g}% after {reached:g}",
                (reached, share),
                xytext=(6, -14),
                textcoords="offset points",
                fontsize="small",
            )
    if most > 20:
        ax.set_xscale("log")
        ax.set_xticks([t * 10**e for e in range(int(math.log10(most)) + 1) for t in (1, 2, 5)])
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
        ax.set_xlim(1.0, 2.5 * most)
    else:
        ax.set_xlim(0.0, 1.4 * most)
    ax.set_ylim(0.0, 106.0)
    ax.set_xlabel("iterations of colour coding")
    ax.set_ylabel("optimum found (% of instances)")
    ax.set_title(f"Colour coding on {len(ended)} instances", loc="left")
    finish(ax, integer_ticks=False)
    return figure


def draw_path(instance: PathInstance, path: Path, *, most: int = 24, title: str = "") -> Figure:
    """Draw a path on a line through its graph, with competing vertices above and below.

    A column shows the vertices that could replace the path's vertex at the smallest loss of weight, the best closest to
    it. Thin lines are the heaviest arcs between the vertices shown. At most ``most`` vertices are shown, but at least
    the path.
    """
    columns = _columns(instance, path, most)
    widths = [max(_width(instance, v) for v in column) for column in columns]
    ends = _LETTER * len("source") + _MARGIN
    centres, at = [], ends + _GAP
    for width in widths:
        centres.append(at + width / 2)
        at += width + _GAP
    stations = [ends / 2, *centres, at + ends / 2]
    heights = [(_ROW if rank % 2 else -_ROW) * ((rank + 1) // 2) for rank in range(max(map(len, columns)))]
    total, bottom, top = at + ends, min(heights) - 0.4, max(heights) + 0.4
    figure = new_figure((total, top - bottom + (0.4 if title else 0.0)))
    ax = figure.subplots()
    places = {
        v: (x, y) for column, x in zip(columns, centres, strict=True) for v, y in zip(column, heights, strict=False)
    }
    for u, v in _heaviest_arcs(instance, list(places), 3 * len(places)):
        ax.plot(*zip(places[u], places[v], strict=True), color="0.88", lw=0.6, zorder=1)
    halves = [ends / 2, *(_width(instance, v) / 2 for v in path), ends / 2]
    vertices = [None, *path, None]
    for i, (tail, head) in enumerate(pairwise(vertices)):
        left, right = stations[i] + halves[i], stations[i + 1] - halves[i + 1]
        arrow = {"arrowstyle": "-|>", "lw": 1.8, "color": MASTER, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", (right, 0.0), (left, 0.0), arrowprops=arrow, zorder=3)
        middle, box = (left + right) / 2, {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
        weight = f"{_step(instance, tail, head):.1f}"
        ax.text(middle, 0.1, weight, ha="center", va="bottom", fontsize="small", bbox=box, zorder=2)
        word = _word_between(instance, tail, head)
        if word:
            ax.text(middle, -0.1, word, ha="center", va="top", style="italic", bbox=box, zorder=2)
    for v, (x, y) in places.items():
        chosen = v in path
        box = {"boxstyle": "round", "fc": FILL if chosen else "white", "ec": MASTER if chosen else "0.6"}
        face = "bold" if chosen else "normal"
        ax.text(x, y, str(instance.labels[v]), ha="center", va="center", fontweight=face, bbox=box, zorder=4)
    for name, x in (("source", stations[0]), ("sink", stations[-1])):
        ax.text(x, 0.0, name, ha="center", va="center", bbox={"boxstyle": "round", "fc": "white", "ls": "--"}, zorder=4)
    ax.set_xlim(0.0, total)
    ax.set_ylim(bottom, top)
    ax.set_axis_off()
    if title:
        ax.set_title(title, loc="left")
    return figure


def _columns(instance: PathInstance, path: Path, most: int) -> list[list[int]]:
    """Return each vertex of the path with its best replacements; no vertex is in two columns."""
    shown = set(path)
    columns = []
    graph = instance.graph
    for i, v in enumerate(path):
        into = graph.first if i == 0 else graph.weights[path[i - 1]]
        out = graph.last if i == len(path) - 1 else graph.weights[:, path[i + 1]]
        worth = into + out
        worth[list(shown)] = -np.inf
        best = np.argsort(-worth, kind="stable")[: max(0, most - len(path)) // len(path)]
        rivals = best[worth[best] > -np.inf].tolist()
        shown.update(rivals)
        columns.append([v, *rivals])
    return columns


def _heaviest_arcs(instance: PathInstance, vertices: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Return the heaviest arcs between some vertices."""
    weights = instance.graph.weights[np.ix_(vertices, vertices)]
    order = np.argsort(-weights, axis=None, kind="stable")[:count]
    tails, heads = np.unravel_index(order, weights.shape)
    pairs = zip(tails.tolist(), heads.tolist(), strict=True)
    return [(vertices[a], vertices[b]) for a, b in pairs if weights[a, b] > -np.inf]


def _width(instance: PathInstance, vertex: int) -> float:
    """Return the width of a vertex's box in inches."""
    return _LETTER * len(str(instance.labels[vertex])) + _MARGIN


def _word_between(instance: PathInstance, tail: int | None, head: int | None) -> str:
    """Return the label of an arc, empty if it has none."""
    if instance.via is None or head is None:
        return ""
    number = int(instance.via[instance.num_vertices if tail is None else tail, head])
    return instance.via_labels[number] if number >= 0 else ""


def _step(instance: PathInstance, u: int | None, v: int | None) -> float:
    """Return the weight of an arc; None is the source as a tail, the sink as a head."""
    graph = instance.graph
    if u is None:
        assert v is not None
        return float(graph.first[v])
    return float(graph.last[u] if v is None else graph.weights[u, v])
