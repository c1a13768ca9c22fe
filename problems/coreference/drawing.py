"""Figures of a clustering over its text, and of the score matrix sorted by clusters.

As in :mod:`colgen.reporting.plotting`, the caller owns the figure, and colour is never the only distinction.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from colgen import InputError
from colgen.problems.coreference.document import Document, Mention
from colgen.problems.coreference.instance import CoreferenceInstance
from colgen.reporting.axes import BOUND, COLOURS, MASTER, new_figure, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORDS, _ANNOTATION = 11.0, 7.5
"""Font sizes in points."""


def draw_clustering(
    text: Document | CoreferenceInstance,
    clusters: Iterable[Sequence[int]],
    *,
    width: float = 9.0,
    title: str = "",
    like: Iterable[Sequence[int]] = (),
) -> Figure:
    """Draw a clustering over its text.

    Each mention in a cluster of at least two is underlined, with the cluster's number at the start of the line.
    Clusters differ in colour and in line style. Singletons have a thin grey line. For nested mentions, the line of the
    inner one is closer to the words.

    Parameters
    ----------
    text
        A document, or an instance with a document.
    clusters
        Clusters of mention numbers.
    width
        Width of the figure in inches.
    like
        Another clustering, drawn in a separate figure. Clusters are matched to its clusters by shared mentions; matched
        clusters have the same number, colour and line style.
    """
    document = text if isinstance(text, Document) else text.document
    if document is None:
        raise InputError("draw_clustering needs a document, but the instance has none")
    clusters = _largest_first(clusters)
    numbers = _numbers(clusters, _largest_first(like))
    number_of = {mention: number for number, cluster in zip(numbers, clusters, strict=True) for mention in cluster}
    if any(not 0 <= mention < len(document.mentions) for mention in number_of):
        raise InputError(
            f"{document.name} has {len(document.mentions)} mentions, but the clustering contains other mention numbers"
        )
    alone = {cluster[0] for cluster in clusters if len(cluster) == 1}
    level = _levels(document.mentions)
    places, lines = _lay_out(document, width)
    spacing = (_WORDS * 1.7 + _ANNOTATION * 0.95 * (1 + max(level, default=0))) / 72.0  # inches between lines
    height = lines * spacing + (0.55 if title else 0.25)
    figure = new_figure((width, height))
    figure.set_layout_engine(None)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0.0, width)
    ax.set_ylim(height, 0.0)  # inches from the top
    ax.set_axis_off()
    top = height - lines * spacing
    if title:
        ax.text(0.15, 0.3, title, fontsize=_WORDS, fontweight="bold", va="baseline")
    base = [top + line * spacing + 0.6 * _WORDS / 72.0 for line in range(lines)]
    for word, (line, begin, _) in zip(document.tokens, places, strict=True):
        ax.text(begin, base[line], word, fontsize=_WORDS, family="monospace", va="baseline")
    for index, mention in enumerate(document.mentions):
        _underline(ax, mention, places, base, level[index], number_of.get(index), index in alone)
    return figure


def _largest_first(clusters: Iterable[Sequence[int]]) -> list[list[int]]:
    return sorted((sorted(cluster) for cluster in clusters), key=lambda c: (-len(c), c))


def _numbers(clusters: Sequence[Sequence[int]], like: Sequence[Sequence[int]]) -> list[int]:
    """Number the clusters from 1: matched clusters have the number of their match in ``like``, others new numbers."""
    from scipy.optimize import linear_sum_assignment

    shared = np.array([[len(set(one) & set(other)) for other in like] for one in clusters], dtype=np.int64)
    shared = shared.reshape(len(clusters), len(like))
    pairs = zip(*linear_sum_assignment(shared, maximize=True), strict=True)
    matched = {int(one): int(other) + 1 for one, other in pairs if shared[one, other] > 0}
    new = itertools.count(len(like) + 1)
    return [matched.get(k) or next(new) for k in range(len(clusters))]


def draw_matrix(instance: CoreferenceInstance, clusters: Iterable[Sequence[int]], *, title: str = "") -> Figure:
    """Draw the scores of all pairs, sorted by clusters and with a frame around each; positive scores are dark.

    A light cell inside a frame is a pair that is together despite its score. A dark cell outside is a pair that is
    apart. The largest clusters come first.
    """
    ordered = _largest_first(clusters)
    order = [mention for cluster in ordered for mention in cluster]
    if sorted(order) != list(range(instance.num_mentions)):
        raise InputError(f"expected a clustering with each of {instance.num_mentions} mentions once")
    scores = np.array(instance.scores, dtype=np.float64)[np.ix_(order, order)]
    np.fill_diagonal(scores, 0.0)
    most = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)) or 1.0
    n = len(order)
    side = min(9.0, max(3.2, 0.16 * n))
    figure = new_figure((side + 1.3, side))
    from matplotlib.patches import Rectangle

    ax = figure.subplots()
    image = ax.imshow(np.clip(scores, -most, most), cmap=shades("white", MASTER), vmin=-most, vmax=most)
    figure.colorbar(image, ax=ax, label="score (the scorer's units)", shrink=0.8)
    first = 0
    for cluster in ordered:
        corner = (first - 0.5, first - 0.5)
        for color, width in (("white", 3.6), (BOUND, 1.8)):  # visible on dark and on light cells
            ax.add_patch(Rectangle(corner, len(cluster), len(cluster), fill=False, ec=color, lw=width))
        first += len(cluster)
    if n <= 40:
        names = [str(instance.labels[mention])[:24] for mention in order]
        ax.set_xticks(range(n), names, rotation=90, fontsize="x-small")
        ax.set_yticks(range(n), names, fontsize="x-small")
    ax.set_xlabel("mention, by cluster")
    ax.set_ylabel("mention, by cluster")
    if title:
        ax.set_title(title, loc="left")
    return figure


_DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))


def _underline(
    ax: Axes,
    mention: Mention,
    places: Sequence[tuple[int, float, float]],
    base: Sequence[float],
    level: int,
    number: int | None,
    alone: bool,
) -> None:
    """Underline a mention on each of its lines of text, with its cluster's number."""
    plain = alone or number is None
    colour = "0.7" if plain else COLOURS[((number or 1) - 1) % len(COLOURS)]
    style = "-" if plain else _DASHES[((number or 1) - 1) % len(_DASHES)]
    rows = sorted({places[word][0] for word in range(mention.start, mention.end + 1)})
    for row in rows:
        words = [w for w in range(mention.start, mention.end + 1) if places[w][0] == row]
        left, right = places[words[0]][1], places[words[-1]][2]
        y = base[row] + (0.35 * _WORDS + 0.95 * _ANNOTATION * (level + 0.35)) / 72.0
        if not plain:
            ax.text(left, y, str(number), fontsize=_ANNOTATION, fontweight="bold", va="center", ha="left", color=colour)
            left += (0.25 + 0.62 * len(str(number))) * _ANNOTATION / 72.0
        ax.plot([left, right], [y, y], color=colour, ls=style, lw=0.8 if plain else 2.0, solid_capstyle="butt")


def _levels(mentions: Sequence[Mention]) -> list[int]:
    """Return the number of lines between each mention and its words: overlapping shorter mentions come first."""
    level = [0] * len(mentions)
    drawn: list[int] = []
    for index in sorted(range(len(mentions)), key=lambda k: mentions[k].end - mentions[k].start):
        mention = mentions[index]
        taken = {level[k] for k in drawn if mentions[k].start <= mention.end and mention.start <= mentions[k].end}
        level[index] = next(free for free in range(len(taken) + 1) if free not in taken)
        drawn.append(index)
    return level


def _lay_out(document: Document, width: float) -> tuple[list[tuple[int, float, float]], int]:
    """Return line, left end and right end of each word in inches, and the number of lines; sentences start lines."""
    advance = 0.602 * _WORDS / 72.0  # width of a character of DejaVu Sans Mono, which is part of matplotlib
    places = []
    line = -1
    for sentence in document.sentences:
        line, at = line + 1, 0.15
        for word in sentence:
            end = at + advance * len(word)
            if end > width - 0.15 and at > 0.15:
                line, at = line + 1, 0.15
                end = at + advance * len(word)
            places.append((line, at, end))
            at = end + advance
    return places, line + 1
