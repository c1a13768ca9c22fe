"""Pictures: trees as arcs over words, and the benchmark's curves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from problems.nonlocal_parsing.measuring import Parsed

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_tree(
    words: Sequence[str],
    heads: Sequence[int],
    ax: Axes | None = None,
    *,
    marked: Collection[tuple[int, int]] = (),
) -> Axes:
    """A tree as arcs over its words; ``marked`` arcs (head, modifier) stand out."""
    import matplotlib.pyplot as plt

    if ax is None:
        ax = plt.figure(figsize=(max(4.0, 0.9 * len(words)), 2.6), layout="constrained").subplots()
    top = 1.0
    for m, h in enumerate(heads, 1):
        colour = "tab:red" if (h, m) in marked else "tab:blue"
        height = 0.35 + 0.35 * abs(m - h) if h else 0.0
        if h == 0:
            ax.annotate("", (m, 0.12), (m, 1.0), arrowprops={"arrowstyle": "->", "color": colour})
            continue
        x = np.linspace(h, m, 40)
        y = 0.12 + height * (1.0 - ((x - (h + m) / 2) / (abs(m - h) / 2)) ** 2)
        ax.plot(x, y, color=colour, linewidth=1.5)
        ax.annotate("", (m, 0.1), (x[-3], y[-3]), arrowprops={"arrowstyle": "->", "color": colour})
        top = max(top, 0.2 + height)
    for m, word in enumerate(words, 1):
        ax.text(m, -0.02, word, ha="center", va="top")
    ax.set_xlim(0.4, len(words) + 0.6)
    ax.set_ylim(-0.35, top + 0.1)
    ax.axis("off")
    return ax


def draw_by_length(runs: Mapping[str, Sequence[Parsed]], width: int = 5) -> Any:
    """Mean seconds, and mean calls of the dynamic program, against sentence length; one curve a setting."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10.0, 4.0), layout="constrained")
    axes = figure.subplots(1, 2)
    for name, parsed in runs.items():
        lengths = np.array([r.words for r in parsed])
        bins = (lengths - 1) // width
        x = [width * b + (width + 1) / 2 for b in np.unique(bins)]
        for ax, values in zip(axes, ([r.seconds for r in parsed], [r.calls for r in parsed]), strict=True):
            means = [np.array(values)[bins == b].mean() for b in np.unique(bins)]
            ax.plot(x, means, marker="o", markersize=3, label=name)
    for ax, label in zip(axes, ("seconds", "calls of the dynamic program"), strict=True):
        ax.set_xlabel("words in the sentence")
        ax.set_ylabel(label)
        ax.legend()
    axes[0].set_yscale("log")
    return figure
