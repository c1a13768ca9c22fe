"""Pictures of the benchmark: seconds, calls and accuracy by the number of candidate heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.nonlocal_parsing.search import Parsed
from colgen.reporting.axes import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Setting(NamedTuple):
    """Parses of a corpus in one setting, and how many heads are right, in percent."""

    runs: Sequence[Parsed]
    accuracy: float


_STYLES = (("-", "o", "0.0"), ("--", "s", "0.0"), (":", "^", "0.0"), ("-", "D", "0.6"), ("--", "v", "0.6"))
"""Line, marker and grey of each setting: told apart without colours."""


def draw_candidates(corpora: Mapping[str, Mapping[str, Setting]], width: int = 5) -> Figure:
    """Of each corpus, by candidate heads: seconds and calls against sentence length, and accuracy against speed."""
    figure = new_figure((12.0, 3.6 * len(corpora)))
    rows = figure.subplots(len(corpora), 3, squeeze=False)
    for (corpus, settings), axes in zip(corpora.items(), rows, strict=True):
        for (name, setting), (line, marker, grey) in zip(settings.items(), cycle(_STYLES)):
            style = {"linestyle": line, "marker": marker, "markersize": 4, "color": grey, "label": name}
            lengths = np.array([run.words for run in setting.runs])
            bins = (lengths - 1) // width
            middles = [width * b + (width + 1) / 2 for b in np.unique(bins)]
            several = ([run.seconds for run in setting.runs], [run.calls for run in setting.runs])
            for ax, values in zip(axes, several, strict=False):
                ax.plot(middles, [np.array(values)[bins == b].mean() for b in np.unique(bins)], **style)
            speed = lengths.sum() / sum(run.seconds for run in setting.runs)
            axes[2].plot([speed], [setting.accuracy], marker, color=grey)
            axes[2].annotate(name, (speed, setting.accuracy), textcoords="offset points", xytext=(6, -4))
        labels = (
            ("words in the sentence", "seconds", f"{corpus}: seconds, scores included"),
            ("words in the sentence", "calls", f"{corpus}: calls of the dynamic program"),
            ("words a second", "heads right (%)", f"{corpus}: accuracy and speed"),
        )
        for ax, (x, y, title) in zip(axes, labels, strict=True):
            ax.set_xlabel(x)
            ax.set_ylabel(y)
            ax.set_title(title, fontsize=10)
            ax.grid(alpha=0.3)
        axes[0].set_yscale("log")
        axes[0].legend(title="candidate heads", fontsize=8, title_fontsize=8)
        axes[2].margins(0.2)
    return figure
