"""Drawings of cutting plans: a bar for each pattern, as long as the roll and divided into pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from colgen import InputError
from colgen.core.text import plural
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.reporting.axes import COLOURS, new_figure, set_integer_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TINT = 0.5
"""Opacity of a piece, on which its width is readable."""


def draw_plan(
    instance: CuttingStockInstance,
    plan: Iterable[Sequence[Any]],
    *,
    most: int = 30,
    title: str = "",
) -> Figure:
    """Draw at most ``most`` patterns of an answer with their numbers of rolls, most used on top; waste is hatched."""
    uses, widths = instance.uses(plan), instance.rolls.widths
    if not uses:
        raise InputError("the plan has no patterns to draw, expected at least one")
    each = ((pattern, times, widths[kind]) for pattern, times, kind in uses)
    shown = sorted(each, key=lambda entry: (-entry[1], entry[0], entry[2]))[:most]
    rank = {item: k for k, item in enumerate(sorted(range(len(instance.widths)), key=lambda i: -instance.widths[i]))}
    figure = new_figure((9.0, 1.2 + 0.34 * len(shown)))
    ax = figure.subplots()
    for row, (pattern, _, roll) in enumerate(shown):
        at = 0
        for item, copies in sorted(pattern, key=lambda pair: rank[pair[0]]):
            width = instance.widths[item]
            for _ in range(copies):
                face = (COLOURS[rank[item] % len(COLOURS)], _TINT)  # by rank of width, so that neighbours differ
                ax.barh(row, width, left=at, height=0.8, color=face, ec="black", lw=0.8)
                if width >= 0.03 * instance.roll:
                    ax.text(at + width / 2, row, str(width), ha="center", va="center", fontsize="small")
                at += width
        if at < roll:
            ax.barh(row, roll - at, left=at, height=0.8, color="white", ec="0.6", lw=0.8, hatch="////")
    ax.set_yticks(range(len(shown)), [plural(times, "roll") for _, times, _ in shown])
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.set_xlim(0, instance.roll)
    set_integer_ticks(ax.xaxis)
    ax.set_xlabel("position on the roll (the instance's units of width)")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    left_out = (
        f"; the {plural(len(shown), 'pattern')} cut most often of {len(uses):,}" if len(uses) > len(shown) else ""
    )
    name = f"{instance.name}: " if instance.name else ""
    total = plural(sum(times for _, times, _ in uses), "roll")
    ax.set_title(title or f"{name}{total}; hatched: waste{left_out}", loc="left")
    return figure
