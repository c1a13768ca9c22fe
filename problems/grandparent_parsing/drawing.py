"""Pictures: a parse as arcs over its words, and seconds by sentence length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from problems.grandparent_parsing.experiment import Compared


def draw_tree(words: Sequence[str], values: Mapping[tuple[int, int], float], title: str = "") -> Picture:
    """Arcs over the words of a sentence, the root first; fractional ones dashed, with their values.

    Parameters
    ----------
    values
        Of each arc (head, modifier); arcs of value 0 are left out.
    """
    from matplotlib.figure import Figure as Picture
    from matplotlib.patches import Arc

    picture = Picture(figsize=(max(6.0, 0.9 * (len(words) + 1)), 3.2), layout="constrained")
    axes = picture.subplots()
    labels = ["root", *words]
    highest = 1.0
    for (head, modifier), value in values.items():
        if value < 1e-6:
            continue
        width = abs(head - modifier)
        highest = max(highest, 0.5 * width)
        whole = value > 1.0 - 1e-6
        colour = "C0" if whole else "C3"
        centre = (head + modifier) / 2
        axes.add_patch(
            Arc((centre, 0.0), width, width, theta1=0, theta2=180, color=colour, linestyle="-" if whole else "--")
        )
        axes.annotate("", (modifier, 0.0), (modifier, 0.05), arrowprops={"arrowstyle": "-|>", "color": colour})
        if not whole:
            axes.text(centre, 0.5 * width, f"{value:.2f}", ha="center", va="bottom", fontsize=8, color=colour)
    for position, label in enumerate(labels):
        axes.text(position, -0.15, label, ha="center", va="top", rotation=0 if len(label) < 9 else 20)
    axes.set(xlim=(-0.6, len(labels) - 0.4), ylim=(-0.8, highest + 0.5), title=title)
    axes.axis("off")
    return picture


def draw_seconds(compared: Sequence[Compared]) -> Picture:
    """Seconds of brute force, price and cut, and the exact parser against sentence length."""
    from matplotlib.figure import Figure as Picture

    picture = Picture(figsize=(6.4, 4.4), layout="constrained")
    axes: Any = picture.subplots()
    lengths = [len(c.sentence) for c in compared]
    series = {
        "brute force": [c.complete["all"].seconds for c in compared],
        "price and cut": [c.seconds for c in compared],
        "exact parser": [c.exact_seconds for c in compared],
    }
    for marker, (label, seconds) in zip("osv", series.items(), strict=True):
        axes.plot(lengths, seconds, marker, markersize=4, alpha=0.7, label=label)
    axes.set(xlabel="tokens", ylabel="seconds", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return picture
