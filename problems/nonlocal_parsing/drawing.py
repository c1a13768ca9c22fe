"""Pictures of trees as arcs over words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from colgen.problems.dependency.drawing import draw_tree as draw_arcs
from colgen.reporting.axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_tree(
    words: Sequence[str],
    heads: Sequence[int],
    ax: Axes | None = None,
    *,
    marked: Collection[tuple[int, int]] = (),
) -> Axes:
    """Draw a tree by :func:`colgen.problems.dependency.drawing.draw_tree`; ``marked`` arcs are thick."""
    if ax is None:
        ax = new_axes((max(4.0, 0.9 * len(words)), 2.6))
    draw_arcs(words, heads, marked=marked, ax=ax)
    return ax
