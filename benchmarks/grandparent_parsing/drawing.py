"""The picture of the comparison: seconds by sentence length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarks.grandparent_parsing.compared import Compared
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


def draw_seconds(compared: Sequence[Compared]) -> Picture:
    """Seconds of brute force, the published method, price and cut, and the exact parser against sentence length."""
    picture = new_figure((6.4, 4.4))
    axes = picture.subplots()
    lengths = [len(c.sentence) for c in compared]
    series = {
        "brute force": [c.complete["all"].seconds for c in compared],
        "price and cut, as published": [c.published.seconds for c in compared],
        "price and cut": [c.ours.seconds for c in compared],
        "exact parser": [c.exact_seconds for c in compared],
    }
    for marker, face, (label, seconds) in zip("o^sv", ("white", "0.85", "0.5", "0.0"), series.items(), strict=True):
        axes.plot(lengths, seconds, marker, color="0.0", mfc=face, markersize=4, label=label)
    axes.set(xlabel="sentence length (tokens)", ylabel="time (seconds)", yscale="log")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return picture
