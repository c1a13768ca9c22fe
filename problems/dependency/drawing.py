"""Drawing of a tree, or a fractional solution, as arcs over the words of a sentence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from colgen import InputError
from colgen.core.tolerances import TOLERANCES
from colgen.reporting.axes import BOUND, MASTER, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Arc: TypeAlias = tuple[int, int]


_LETTER, _GAP, _RISE, _LEVEL, _STEP = 0.105, 0.35, 0.28, 0.24, 0.06
"""Inches: width of a letter, gap between words, height of the lowest arc, and steps between arcs and arc ends."""

_EPSILON = TOLERANCES.integrality


def draw_tree(
    words: Sequence[str],
    tree: Sequence[int] | Mapping[Arc, float],
    title: str = "",
    *,
    marked: Collection[Arc] = (),
    ax: Axes | None = None,
) -> Figure:
    """Draw arcs from heads to modifiers over the words of a sentence, with arrows from above for the root's modifiers.

    Parameters
    ----------
    tree
        The head of each word, words numbered from 1, 0 for the root; or the values of arcs (head, modifier).
        Fractional arcs are dashed and labelled with their value; arcs of value 0 are omitted.
    marked
        Arcs (head, modifier) to draw thick and in another colour.
    ax
        Axes to draw on; by default a new figure that is not registered with pyplot.
    """
    values = tree if isinstance(tree, Mapping) else {(head, m): 1.0 for m, head in enumerate(tree, 1)}
    arcs = sorted(
        (arc for arc, value in values.items() if value > _EPSILON),
        key=lambda arc: (abs(arc[0] - arc[1]) if arc[0] else len(words) + 1, arc),
    )
    for head, modifier in arcs:
        if not (0 <= head <= len(words) and 1 <= modifier <= len(words) and head != modifier):
            raise InputError(f"the arc ({head}, {modifier}) does not fit a sentence of {len(words)} words")
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
    """Return the level of each arc, above all shorter arcs with an overlapping span; arcs are sorted by length."""
    level: dict[Arc, int] = {}
    for arc in arcs:
        low, high = min(arc), max(arc)
        below = [level[o] for o in level if arc[0] and max(low, min(o)) < min(high, max(o))]
        level[arc] = 1 + max(below) if below else 0
    return {arc: height for arc, height in level.items() if arc[0]} | {arc: 0 for arc in arcs if not arc[0]}


def _ends(arcs: Sequence[Arc], centres: Sequence[float]) -> dict[Arc, tuple[float, float]]:
    """Return the positions of the two ends of each arc, arranged so that arcs of a word do not cross."""
    at: dict[int, list[tuple[float, Arc]]] = {}
    for head, modifier in arcs:
        for here, there in ((head, modifier), (modifier, head)) if head else ((modifier, modifier),):
            # From left to right: short arcs to the left, long ones; the root's arc; long arcs to the right, short ones.
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

    (left, right), integral = ends, value > 1.0 - _EPSILON
    if arc[0]:
        rise = 4.0 / 3.0 * height  # the curve reaches 3/4 of the height of its control points
        path = Path([(left, 0.0), (left, rise), (right, rise), (right, 0.0)], [Path.MOVETO, *[Path.CURVE4] * 3])
    else:
        path = Path([(right, top), (right, 0.0)], [Path.MOVETO, Path.LINETO])
        ax.text(right, top, "root", ha="center", va="bottom", fontsize="small", style="italic")
    line = "-" if integral else (0, (4, 2))
    ax.add_patch(
        FancyArrowPatch(
            path=path,
            arrowstyle="-|>",
            mutation_scale=9,
            lw=2.6 if thick else 1.1,
            ls=line,
            color=BOUND if thick else MASTER,
            shrinkA=0,
            shrinkB=0,
        )
    )
    if not integral:
        box = {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
        place = ((left + right) / 2, height) if arc[0] else (right, top - 0.12)
        ax.text(*place, f"{value:.2f}", ha="center", va="center", fontsize="small", bbox=box)
