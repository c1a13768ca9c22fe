"""Pictures of a run, drawn from its :class:`~colgen.core.result.Result`.

Each function draws into the given ``ax`` or into a new figure. Pyplot is never imported, so figures are not kept open.
Save one with ``ax.figure.savefig("run.png")``; a notebook shows a figure at the end of a cell. Lines differ in style,
marker or label, not only in colour. The colours suit colour-blind readers (Okabe and Ito). The suffix of the file name
selects the format: ``.png``, or ``.svg`` and ``.pdf`` for vector graphics.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Column
from colgen.core.duals import Duals
from colgen.core.errors import InputError
from colgen.core.result import Iteration, NodeRecord, Result
from colgen.core.text import percent
from colgen.reporting.axes import (
    BOUND,
    COLOURS,
    FILL,
    INCUMBENT,
    MASTER,
    NODE,
    check_by,
    finish,
    finite,
    new_axes,
    new_figure,
    set_integer_ticks,
    title_of,
    write_inside,
)
from colgen.reporting.gap_pictures import gap as gap
from colgen.reporting.gap_pictures import primal_dual_integral as primal_dual_integral
from colgen.reporting.gap_pictures import runs as runs
from colgen.reporting.html import column_name
from colgen.reporting.tree_layout import layout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_DARK, _MIDDLE, _LIGHT = "0.0", "0.45", "0.8"

_OUTCOMES = {
    # outcome: marker, face colour, size in points
    "branched": ("o", MASTER, 6.0),
    "whole": ("*", INCUMBENT, 13.0),
    "pruned": ("s", "white", 7.0),
    "infeasible": ("X", BOUND, 8.0),
}
_OTHER_OUTCOME = ("D", "white", 7.0)

_LABELLED_NODES = 40
"""Maximum number of nodes for which bounds are written."""

_LABELLED = 5
"""Number of dual values or columns that get a style and a name."""


def bounds(result: Result, by: Literal["round", "second"] = "round", ax: Axes | None = None) -> Axes:
    """Draw the objective of the restricted master, the dual bound and the incumbent. Phase 1 is shaded.

    With more than one node the dual bound is the global one, and that of the node is a thin line.
    """
    check_by(by)
    ax = new_axes() if ax is None else ax
    rounds = result.iterations
    x = _horizontal(rounds, by)
    _shade_phase_1(ax, rounds, x)
    second_phase = np.array([i.phase == 2 for i in rounds], dtype=bool)
    node_bound = finite(np.where(second_phase, [i.dual_bound for i in rounds], math.nan))
    objective = finite(np.where(second_phase, [i.objective for i in rounds], math.nan))
    # The end differs from the last round: heuristics and the tree may have closed the gap.
    end = float(len(rounds)) if by == "round" else result.seconds.get("total", x[-1] if len(x) else 0.0)
    to_end = np.append(x, max(end, x[-1]) if len(x) else end)
    global_bound = finite(np.array([*(i.global_bound for i in rounds), result.dual_bound], dtype=float))
    answer = math.nan if result.answer is None else result.objective  # the objective of a relaxation is no incumbent
    incumbent = finite(np.array([*(i.incumbent for i in rounds), answer], dtype=float))
    few = len(rounds) <= 60
    if np.isfinite(objective).any():
        ax.plot(x, objective, color=MASTER, lw=1.4, marker="." if few else "", ms=4, label="restricted master")
    if any(i.node for i in rounds):
        ax.plot(x, node_bound, color=NODE, ls=":", lw=1.0, label="dual bound of the node")
    if np.isfinite(global_bound).any():
        ax.plot(to_end, global_bound, color=BOUND, ls="--", lw=1.4, marker="x" if few else "", ms=4, label="dual bound")
    if np.isfinite(incumbent).any():
        last = [len(to_end) - 1]
        ax.step(to_end, incumbent, where="post", color=INCUMBENT, ls="-.", lw=2.0, marker="*", ms=9, markevery=last)
        ax.plot([], [], color=INCUMBENT, ls="-.", lw=2.0, marker="*", ms=9, label="incumbent")
    if not np.isfinite(np.concatenate([objective, global_bound, incumbent])).any():
        write_inside(ax, "no bounds: the run ended in phase 1" if rounds else "no bounds: the run has no round")
    _focus(ax, result, [objective, incumbent], [global_bound, node_bound])
    ax.set_xlabel("round" if by == "round" else "time (seconds)")
    ax.set_ylabel("objective (the problem's units)")
    ax.set_title(title_of("Bounds", result), loc="left")
    finish(ax)
    return ax


def columns_and_rows(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the numbers of columns and rows of the restricted master by round, and of new columns."""
    ax = new_axes() if ax is None else ax
    rounds = result.iterations
    x = _horizontal(rounds, "round")
    _shade_phase_1(ax, rounds, x)
    new = [i.new_columns for i in rounds]
    ax.bar(x, new, width=1.0, color=FILL, edgecolor=MASTER, linewidth=0.3, label="new columns in the round")
    markers = (".", "x") if len(rounds) <= 20 else ("", "")
    ax.plot(x, [i.columns for i in rounds], color=MASTER, ls="-", lw=1.4, marker=markers[0], label="columns")
    ax.plot(x, [i.rows for i in rounds], color=BOUND, ls="--", lw=1.4, marker=markers[1], ms=4, label="rows")
    ax.set_ylim(bottom=0)
    ax.set_xlabel("round")
    ax.set_ylabel("number in the restricted master")
    set_integer_ticks(ax.yaxis)
    if not rounds:
        write_inside(ax, "the run has no round")
    ax.set_title(title_of("Columns and rows", result), loc="left")
    finish(ax)
    return ax


def duals(result: Result, figure: Figure | None = None) -> Figure:
    """Draw the dual values of the root by round, and their distance to the last ones.

    Lines of later rows start in their first round. The dual values that moved most have lines of different styles,
    labelled with the names of their rows.

    Raises
    ------
    InputError
        If the run did not record dual values (``record=Record(duals=True)``), or they are not one value per row.
    """
    rounds = [i for i in result.iterations if i.node == 0 and i.depth == 0 and i.phase == 2 and i.duals is not None]
    if not rounds:
        raise InputError("the run has no dual values: use solve(problem, record=Record(duals=True))")
    if not all(isinstance(i.duals, Duals) for i in rounds):
        raise InputError("the dual values of this master are not one value per row")
    last: Duals = rounds[-1].duals
    width = max(len(i.duals.values) for i in rounds)
    values = np.full((len(rounds), width), math.nan)
    for k, iteration in enumerate(rounds):
        values[k, : len(iteration.duals.values)] = iteration.duals.values
    x = _horizontal(rounds, "round")

    figure = new_figure((7.0, 6.0)) if figure is None else figure
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    moved = np.nansum(np.abs(np.diff(values, axis=0)), axis=0)

    def name(row: int) -> str:
        block, index = last.keys[row]
        return block if index is None else f"{block}[{index}]"

    _draw_most_moved(upper, x, values, moved, name, "rows")
    upper.set_ylabel("dual value\n(objective per unit of the row)")
    upper.set_title(title_of("Dual values at the root", result), loc="left")
    finish(upper, legend_right=True)

    known = np.nan_to_num(values)
    distance = np.linalg.norm(known - known[-1], axis=1)
    positive = distance > 0
    lower.plot(x[positive], distance[positive], color=MASTER, marker=".", markersize=5, linewidth=1.0)
    if positive.any():
        lower.set_yscale("log")
    lower.set_xlabel("round")
    lower.set_ylabel("distance to the last\ndual values (Euclidean)")
    lower.grid(True, color=_LIGHT, linewidth=0.4)
    lower.spines[["top", "right"]].set_visible(False)
    set_integer_ticks(lower.xaxis)
    return figure


def values(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the value of each column in the solution of the root's restricted master, by round.

    The line of a column starts in the first round that uses it. The columns that moved most have lines of different
    styles, labelled with their structures.

    Raises
    ------
    InputError
        If the run did not record values (``solve(..., record=Record(values=True))``).
    """
    rounds = [i for i in result.iterations if i.node == 0 and i.depth == 0 and i.values is not None]
    if not rounds:
        raise InputError("the run has no values of columns: use solve(problem, record=Record(values=True))")
    used: dict[Hashable, Column] = {}
    places: list[list[tuple[Hashable, float]]] = []
    for record in rounds:
        assert record.values is not None
        used.update((column.identity, column) for column, _ in record.values.columns)
        places.append([(column.identity, value) for column, value in record.values.columns])
    number = {identity: k for k, identity in enumerate(used)}
    table = np.zeros((len(rounds), len(used)))
    for k, place in enumerate(places):
        for identity, value in place:
            table[k, number[identity]] = value
    x = _horizontal(rounds, "round")
    moved = np.abs(np.diff(table, axis=0)).sum(axis=0)
    table[np.maximum.accumulate(table != 0.0, axis=0) == 0] = math.nan

    ax = new_axes((7.0, 4.2)) if ax is None else ax
    names = [column_name(column, 28) for column in used.values()]
    _draw_most_moved(ax, x, table, moved, lambda column: names[column], "columns")
    ax.set_xlabel("round")
    ax.set_ylim(bottom=min(0.0, *ax.get_ylim()))
    ax.set_ylabel("value in the master's solution")
    ax.set_title(title_of("Values of columns at the root", result), loc="left")
    finish(ax, legend_right=True)
    return ax


def _draw_most_moved(ax: Axes, x: Floats, values: Floats, moved: Floats, name: Callable[[int], str], what: str) -> None:
    """Draw many lines by round; those that moved most have styles of their own and are named."""
    width = values.shape[1]
    order = np.argsort(-moved, kind="stable")
    chosen = [int(k) for k in order[:_LABELLED] if moved[k] > 0 or width <= _LABELLED]
    rest = [k for k in range(width) if k not in set(chosen)]
    if rest:
        ax.plot(x, values[:, rest], color=_LIGHT, linewidth=0.8)
        ax.plot([], [], color=_LIGHT, linewidth=0.8, label=f"{len(rest)} other {what}")
    styles = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)))
    every = max(1, len(x) // 12)
    for k, style, marker, colour in zip(chosen, styles, "os^vD", COLOURS, strict=False):
        ax.plot(
            x,
            values[:, k],
            color=colour,
            linestyle=style,
            marker=marker,
            markersize=3.5,
            markevery=every,
            label=name(k),
        )


def stages(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the seconds of each stage as bars."""
    ax = new_axes((6.4, 3.2)) if ax is None else ax
    spent = sorted((s, name) for name, s in result.seconds.items() if name != "total")
    total = result.seconds.get("total", 0.0) or sum(s for s, _ in spent) or 1.0
    longest = max((s for s, _ in spent), default=0.0) or 1.0
    names = [name for _, name in spent]
    ax.barh(names, [s for s, _ in spent], color=FILL, edgecolor=MASTER, linewidth=0.8)
    for position, (s, _) in enumerate(spent):
        text = f"{_seconds(s)} s  ({100 * s / total:.0f}%)"
        ax.annotate(text, (s, position), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")
    ax.set_xlim(0, 1.4 * longest)  # space for the numbers
    ax.set_xlabel("time (seconds)")
    ax.set_title(title_of(f"Time by stage, {_seconds(total)} s in total", result), loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def tree(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the branch-and-bound tree with a marker for each outcome, and dual bounds if there are few nodes."""
    ax = new_axes((8.0, 4.8)) if ax is None else ax
    nodes = result.nodes
    place = layout(nodes)
    depth = {node.number: node.depth for node in nodes}
    for node in nodes:
        if node.parent in place:
            ax.plot(
                [place[node.parent], place[node.number]],
                [depth[node.parent], node.depth],
                color=_MIDDLE,
                linewidth=0.8,
                zorder=1,
            )
    kinds: dict[str, list[NodeRecord]] = defaultdict(list)
    for node in nodes:
        kinds[node.outcome].append(node)
    shrink = 1.0 if len(nodes) <= _LABELLED_NODES else max(0.35, math.sqrt(_LABELLED_NODES / len(nodes)))
    others = iter("DP^v<>hd")
    for outcome, members in sorted(kinds.items(), key=lambda pair: pair[1][0].number):
        marker, face, size = _OUTCOMES.get(outcome) or (next(others, "D"), *_OTHER_OUTCOME[1:])
        ax.plot(
            [place[node.number] for node in members],
            [node.depth for node in members],
            linestyle="",
            marker=marker,
            markersize=size * shrink,
            markerfacecolor=face,
            markeredgecolor=_DARK,
            label=f"{outcome} ({len(members)})",
            zorder=2,
        )
    if len(nodes) <= _LABELLED_NODES:
        labels = _bound_labels(nodes)
        for node in nodes:
            ax.annotate(
                labels[node.number],
                (place[node.number], node.depth),
                xytext=(0, -8),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize="x-small",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            )
    deepest = max(depth.values(), default=0)
    ax.set_ylim(deepest + 0.6, -0.4)  # the root on top
    ax.margins(x=0.08)
    ax.set_xticks([])
    set_integer_ticks(ax.yaxis)
    ax.set_ylabel("depth (branching decisions)")
    title = "numbers are dual bounds" if len(nodes) <= _LABELLED_NODES else f"{len(nodes):,} nodes"
    ax.set_title(title_of(f"Branch-and-bound tree ({title})", result), loc="left")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    if nodes:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, frameon=False, fontsize="small")
    return ax


def overview(result: Result, figure: Figure | None = None) -> Figure:
    """Draw bounds, columns and rows, time by stage, and the tree.

    A run without branching shows its bounds by time instead of a tree.
    """
    figure = new_figure((12.0, 8.0)) if figure is None else figure
    (upper_left, upper_right), (lower_left, lower_right) = figure.subplots(2, 2)
    name, result = title_of("", result).removeprefix(": "), replace(result, settings={})  # one title has the name
    bounds(result, ax=upper_left)
    columns_and_rows(result, ax=upper_right)
    stages(result, ax=lower_left)
    if len(result.nodes) > 1:
        tree(result, ax=lower_right)
    else:
        bounds(result, by="second", ax=lower_right).set_title("Bounds by time", loc="left")
    objective = f"objective {result.objective:.8g}" if math.isfinite(result.objective) else "no answer"
    gap = f"gap {percent(result.gap)}" if math.isfinite(result.gap) else "no finite gap"
    named = f"{name}. " if name else ""
    figure.suptitle(f"{named}{result.termination.value}  ({objective}, {gap})")
    return figure


# --- drawing ---------------------------------------------------------------------------------------------------------


def _horizontal(rounds: Sequence[Iteration], by: str) -> Floats:
    return np.array([i.number if by == "round" else i.seconds for i in rounds], dtype=float)


def _shade_phase_1(ax: Axes, rounds: Sequence[Iteration], x: Floats) -> None:
    """Shade each stretch of phase 1."""
    label: str | None = "phase 1"
    start = None
    for k, iteration in enumerate(rounds):
        if iteration.phase == 1 and start is None:
            start = k
        last = k == len(rounds) - 1
        if start is not None and (iteration.phase == 2 or last):
            ax.axvspan(x[start], x[k], facecolor="0.93", edgecolor=_LIGHT, hatch="//", linewidth=0, label=label)
            label = start = None


def _focus(ax: Axes, result: Result, answers: Sequence[Floats], limits: Sequence[Floats]) -> None:
    """Limit the vertical axis so that weak early bounds do not flatten the rest."""
    ends = np.array([result.objective, result.dual_bound])
    inner = np.concatenate([*answers, ends])
    inner = inner[np.isfinite(inner)]
    everything = np.concatenate([inner, *limits])
    everything = everything[np.isfinite(everything)]
    if not len(inner) or not len(everything):
        return
    # Differences of the size of rounding errors are not drawn.
    least = 1e-6 * max(1.0, abs(float(inner[0])))
    span = float(np.ptp(inner))
    span = span if span > least else 0.05 * max(1.0, abs(float(inner[0])))
    low = max(float(everything.min()), float(inner.min()) - span)
    high = min(float(everything.max()), float(inner.max()) + span)
    margin = 0.06 * (high - low) if high - low > least else span
    ax.set_ylim(low - margin, high + margin)


def _seconds(value: float) -> str:
    return f"{value:.3g}" if value >= 0.001 else "<0.001"


def _bound_labels(nodes: Sequence[NodeRecord]) -> dict[int, str]:
    """Return bounds with enough digits to distinguish them, between 4 and 6."""
    finite = sorted({node.bound for node in nodes if math.isfinite(node.bound)})
    digits = 4
    while digits < 6 and len({f"{bound:.{digits}g}" for bound in finite}) < len(finite):
        digits += 1
    return {node.number: f"{node.bound:.{digits}g}" if math.isfinite(node.bound) else "" for node in nodes}
