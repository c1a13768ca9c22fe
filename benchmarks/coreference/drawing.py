"""Pictures of the comparison: seconds and rounds by number of mentions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.coreference.methods import ALL_LINK, GENERATED, WAYS
from benchmarks.harness import Run
from colgen import InputError
from colgen.reporting.axes import new_figure, set_integer_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BIN = 10
_STYLES = {ALL_LINK: ("-", "s", "white"), GENERATED: ("-", "o", "0.0")}
_OTHER_STYLES = (("--", "^", "0.6"), (":", "v", "white"), ("-.", "D", "0.6"), (":", "x", "0.0"))


def draw(runs: Iterable[Run]) -> Figure:
    """Plot the source's first figure: mean seconds by mentions for each method, and rounds of column generation.

    Runs of :func:`benchmarks.coreference.comparison.run_sizes` are averaged in bins of ten mentions.  A bin with a run
    that reached its limit gets an arrow, because its average is a lower bound.
    """
    runs = list(runs)
    if not runs:
        raise InputError("expected at least one run to draw, got none")
    figure = new_figure((10.0, 4.2))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    others = iter(_OTHER_STYLES)
    present = {run.way for run in runs}
    for way in (way for way in WAYS if way in present):
        line, marker, face = _STYLES.get(way) or next(others)
        bins = bin_runs([run for run in runs if run.way == way])
        sizes = [size for size, _ in bins]
        seconds = [float(np.mean([run.seconds for run in of_bin])) for _, of_bin in bins]
        left.plot(sizes, seconds, color="0.0", ls=line, lw=1.0, marker=marker, ms=5, mfc=face, mec="0.0", label=way)
        for size, value, (_, of_bin) in zip(sizes, seconds, bins, strict=True):
            if not all(run.proved for run in of_bin):
                left.annotate("", (size, 1.9 * value), (size, value), arrowprops={"arrowstyle": "->", "lw": 1.0})
    left.set_yscale("log")
    left.set_ylabel("average time (seconds)")
    left.set_title("Time to the proved optimum", loc="left")
    if any(not run.proved for run in runs):
        left.plot([], [], ls="", marker=r"$\uparrow$", color="0.0", label="some runs reached their limit")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize="small")

    generated = [run for run in runs if run.way == GENERATED]
    if generated:
        bins = bin_runs(generated)
        sizes = [size for size, _ in bins]
        right.plot(
            sizes,
            [float(np.mean([run.rounds for run in of_bin])) for _, of_bin in bins],
            color="0.0",
            marker="o",
            ms=5,
            lw=1.0,
            label="mean",
        )
        right.plot(
            sizes,
            [max(run.rounds for run in of_bin) for _, of_bin in bins],
            color="0.45",
            ls="--",
            marker="^",
            ms=4,
            lw=1.0,
            label="maximum",
        )
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize="small")
    right.set_ylim(bottom=0)
    set_integer_ticks(right.yaxis)
    right.set_ylabel("rounds of column generation")
    right.set_title("Rounds", loc="left")
    for ax in (left, right):
        ax.set_xlabel("mentions in the document")
        ax.set_xlim(left=0)
        ax.grid(True, color="0.85", linewidth=0.4)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def bin_runs(runs: Iterable[Run], width: int = _BIN) -> list[tuple[float, list[Run]]]:
    """Return runs in bins of sizes that end at multiples of ``width``: mean size of each bin, and its runs."""
    bins: dict[int, list[Run]] = {}
    for run in runs:
        bins.setdefault((run.size - 1) // width, []).append(run)
    return [(float(np.mean([run.size for run in bins[key]])), bins[key]) for key in sorted(bins)]
