"""A tree, or a fractional solution, as arcs over the words of a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from colgen import InputError
from colgen.core.tolerances import TOLERANCES
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arc: TypeAlias = tuple[int, int]

_LETTER, _GAP, _RISE, _LEVEL, _STEP = 0.105, 0.35, 0.28, 0.24, 0.06
"""Inches: of a letter, between words, of the lowest arc, from an arc to the next outer one, between ends of arcs."""

_EPSILON = TOLERANCES.integrality


def draw_tree(
    words: Sequence[str],
    tree: Sequence[int] | Mapping[Arc, float],
    title: str = "",
    *,
    marked: Collection[Arc] = (),
    ax: Axes | None = None,
) -> Figure:
    """Arcs from heads to modifiers over the words of a sentence; what hangs from the root has an arrow from above.

    Parameters
    ----------
    tree
        The head of each word, words counted from 1, 0 for the root; or the values of arcs (head, modifier), of which
        those of value 0 are left out, and fractional ones are dashed and have their value written on top.
    marked
        Arcs (head, modifier) that are drawn thick.
    ax
        Where to draw; by default a new figure, which is the caller's alone.

    Raises
    ------
    InputError
        If there is an arc that no sentence of these words has.
    """
    values = tree if isinstance(tree, Mapping) else {(head, m): 1.0 for m, head in enumerate(tree, 1)}
    arcs = sorted(
        (arc for arc, value in values.items() if value > _EPSILON),
        key=lambda arc: (abs(arc[0] - arc[1]) if arc[0] else len(words) + 1, arc),
    )
    for head, modifier in arcs:
        if not (0 <= head <= len(words) and 1 <= modifier <= len(words) and head != modifier):
            raise InputError(f"there is no arc ({head}, {modifier}) in a sentence of {len(words)} words")
    centres, at = [0.0], 0.1
    for word in words:
        width = max(_LETTER * len(word), 0.3)
        centres.append(at + width / 2)
        at += width + _GAP
    levels = _levels(arcs)
    highest = _RISE + _LEVEL * max(levels.values(), default=0)
    width, height = max(at, 3.0), highest + 1.0
    if ax is None:
        ax = new_figure((width, height + (0.3 if title else 0.0))).subplots()
    ends = _ends(arcs, centres)
    for arc in arcs:
        _draw_arc(ax, arc, values[arc], ends[arc], _RISE + _LEVEL * levels[arc], highest + 0.25, arc in marked)
    for word, x in zip(words, centres[1:], strict=True):
        ax.text(x, -0.06, word, ha="center", va="top")
    ax.set_xlim((at - width) / 2 - 0.1, (at + width) / 2)
    ax.set_ylim(-0.35, highest + 0.55)
    ax.set_axis_off()
    if title:
        ax.set_title(title, loc="left")
    figure = ax.get_figure(root=True)
    assert figure is not None  # the axes were not removed
    return figure


def _levels(arcs: Sequence[Arc]) -> dict[Arc, int]:
    """How high each arc is: above all shorter ones whose span overlaps its own; arcs come by length."""
    level: dict[Arc, int] = {}
    for arc in arcs:
        low, high = min(arc), max(arc)
        below = [level[o] for o in level if arc[0] and max(low, min(o)) < min(high, max(o))]
        level[arc] = 1 + max(below) if below else 0
    return {arc: height for arc, height in level.items() if arc[0]} | {arc: 0 for arc in arcs if not arc[0]}


def _ends(arcs: Sequence[Arc], centres: Sequence[float]) -> dict[Arc, tuple[float, float]]:
    """Where each arc leaves its head and meets its modifier: side by side, no arc across one below it."""
    at: dict[int, list[tuple[float, Arc]]] = {}
    for head, modifier in arcs:
        for here, there in ((head, modifier), (modifier, head)) if head else ((modifier, modifier),):
            # From left to right: short arcs to the left, long ones; what comes from the root; long ones to the right.
            at.setdefault(here, []).append((0.0 if here == there else 1.0 / (there - here), (head, modifier)))
    ends: dict[Arc, dict[int, float]] = {arc: {} for arc in arcs}
    for here, those in at.items():
        for k, (_, arc) in enumerate(sorted(those)):
            ends[arc][here] = centres[here] + _STEP * (k - (len(those) - 1) / 2)
    return {(h, m): (ends[h, m].get(h, ends[h, m][m]), ends[h, m][m]) for h, m in arcs}


def _draw_arc(
    ax: Axes, arc: Arc, value: float, ends: tuple[float, float], height: float, top: float, thick: bool
) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    (left, right), whole = ends, value > 1.0 - _EPSILON
    if arc[0]:
        rise = 4.0 / 3.0 * height  # of the control points: the curve reaches three quarters of it
        path = Path([(left, 0.0), (left, rise), (right, rise), (right, 0.0)], [Path.MOVETO, *[Path.CURVE4] * 3])
    else:
        path = Path([(right, top), (right, 0.0)], [Path.MOVETO, Path.LINETO])
        ax.text(right, top, "root", ha="center", va="bottom", fontsize="small", style="italic")
    line = "-" if whole else (0, (4, 2))
    ax.add_patch(
        FancyArrowPatch(
            path=path,
            arrowstyle="-|>",
            mutation_scale=9,
            lw=2.6 if thick else 1.1,
            ls=line,
            color="0.0" if whole else "0.35",
            shrinkA=0,
            shrinkB=0,
        )
    )
    if not whole:
        box = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
        place = ((left + right) / 2, height) if arc[0] else (right, 0.75 * top)
        ax.text(*place, f"{value:.2f}", ha="center", va="center", fontsize="small", bbox=box)
