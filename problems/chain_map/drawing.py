"""Figures: results of the experiment, domains by round, and a labelling with the scores of its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from colgen.core.tolerances import TOLERANCES
from colgen.reporting.axes import BOUND, MASTER, finish, new_figure, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from colgen.problems.chain_map.instance import ChainInstance
    from colgen.problems.chain_map.labellings import Labellings


class Point(NamedTuple):
    """A labelled point."""

    x: float
    y: float
    label: str


_STYLES = {"cg": ("o-", MASTER, "column generation"), "viterbi": ("s--", BOUND, "vectorised Viterbi")}


def draw(regularised: Sequence[Point], by_labels: Mapping[str, Sequence[Point]]) -> Figure:
    """Draw accuracy against throughput for several regularisations, and throughput by the number of labels."""
    figure = new_figure((10, 4))
    left, right = figure.subplots(1, 2)
    left.plot([p.x / 1000 for p in regularised], [p.y for p in regularised], "o-", color=MASTER)
    for point in regularised:
        left.annotate(point.label, (point.x / 1000, point.y), textcoords="offset points", xytext=(6, 4))
    left.set_xlabel("thousand sentences per second")
    left.set_ylabel("correct tokens (%)")
    left.set_title("Accuracy and speed by L2 strength of the transitions", fontsize=10)
    left.margins(0.15)
    finish(left, integer_ticks=False)
    _draw_scaling(right, by_labels)
    return figure


def _draw_scaling(axes: Axes, by_labels: Mapping[str, Sequence[Point]]) -> None:
    for way, points in by_labels.items():
        style, colour, name = _STYLES[way]
        axes.loglog([p.x for p in points], [p.y for p in points], style, color=colour, label=name)
    ticks = [point.x for point in next(iter(by_labels.values()))]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("labels")
    axes.set_ylabel("sentences per second")
    axes.set_title("Speed by number of labels", fontsize=10)
    finish(axes, integer_ticks=False)


def draw_domains(
    rounds: Sequence[Sequence[Sequence[int]]], words: Sequence[str], labels: Sequence[str], best: Sequence[int]
) -> Figure:
    """Draw the domains: one row per round, one column per token, darker for more labels.

    ``rounds`` holds, for each round, the labels in the domain of each token. The labels of ``best`` come first in each
    cell.
    """
    figure = new_figure((max(6.0, 0.6 * len(words) + 1.0), 1.5 + 0.55 * len(rounds)))
    axes = figure.subplots()
    sizes = [[len(domain) for domain in domains] for domains in rounds]
    axes.imshow(sizes, cmap=shades("white", MASTER), vmin=1, vmax=2 * max(map(max, sizes)), aspect="auto")
    for number, domains in enumerate(rounds):
        for token, domain in enumerate(domains):
            shown = sorted(domain, key=lambda label: (label != best[token], label))
            text = "\n".join(labels[label] for label in shown[:2]) + ("\n..." if len(shown) > 2 else "")
            axes.text(token, number, text, ha="center", va="center", fontsize=8)
    long = max(map(len, words), default=0) > 5
    axes.set_xticks(range(len(words)), words, rotation=45 if long else 0, ha="right" if long else "center")
    axes.set_xlabel("token")
    axes.set_yticks(range(len(rounds)), [f"round {number + 1}" for number in range(len(rounds))])
    axes.set_xticks([k + 0.5 for k in range(len(words) - 1)], minor=True)
    axes.set_yticks([k + 0.5 for k in range(len(rounds) - 1)], minor=True)
    axes.set_title("Labels in the domain of each token, the best labelling's first", loc="left")
    axes.grid(which="minor", color="0.8", linewidth=0.8)
    axes.tick_params(which="minor", length=0)
    return figure


def draw_labelling(instance: ChainInstance, labellings: Labellings, tree: int = 0, *, most: int = 12) -> Figure:
    """Draw the scores of a chain's labels as cells, darker for better, and its best labelling as a line.

    Parameters
    ----------
    labellings
        The result of :func:`~colgen.problems.chain_map.template.decode`, or the answer of a run.
    tree
        Number of the chain or tree. The nodes of a tree are in post-order, without a line.
    most
        Labels shown: first those of the labelling, then those of best score.
    """
    import numpy as np

    first, end = (int(node) for node in instance.forest.starts[tree : tree + 2])
    best = labellings[tree]
    scores = np.array(instance.scores[first:end], dtype=np.float64)
    order = np.argsort(-scores.max(axis=0), kind="stable").tolist()
    chosen = list(dict.fromkeys([*best[best >= 0].tolist(), *order]))
    shown = sorted(chosen[: max(most, len(set(best.tolist())))])
    finite = scores[np.isfinite(scores)]
    figure = new_figure((max(5.0, 0.5 * len(best) + 2.0), 1.4 + 0.3 * len(shown)))
    axes = figure.subplots()
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    # The range is doubled, so that the line is visible: the darkest cell is a light blue.
    image = axes.imshow(scores[:, shown].T, cmap=shades("white", MASTER), vmin=low, vmax=2 * high - low, aspect="auto")
    bar = figure.colorbar(image, ax=axes, label="score of the label")
    bar.ax.set_ylim(low, high)
    places = [shown.index(label) if label >= 0 else float("nan") for label in best.tolist()]
    parents = instance.forest.parent[first : end - 1].tolist()
    is_chain = parents == list(range(first + 1, end))
    axes.plot(range(len(best)), places, "o-" if is_chain else "o", color=BOUND, mfc="white", ms=7, lw=2.0)
    nodes = instance.nodes[first:end] if instance.nodes else range(1, len(best) + 1)
    axes.set_xticks(range(len(best)), [str(node) for node in nodes], rotation=45 if instance.nodes else 0)
    axes.set_yticks(range(len(shown)), [str(instance.name(label)) for label in shown])
    axes.set_xlabel("token" if is_chain else "node")
    axes.set_ylabel("label")
    value, bound = float(labellings.values[tree]), float(labellings.bounds[tree])
    proof = "proved optimal" if labellings.gaps[tree] <= TOLERANCES.optimality * abs(value) else f"bound {bound:.6g}"
    axes.set_title(f"{len(best)} tokens, {instance.num_labels} labels: score {value:.6g}, {proof}", loc="left")
    return figure
