"""Arrowhead pictures of decomposed matrices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from colgen.core.text import plural
from colgen.decomposition.reading.compact_model import MASTER, Partition
from colgen.reporting.axes import COLOURS, FILL, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def arrowhead(matrix: sparse.csr_array, partition: Partition, path: Path | str | None = None) -> Figure:
    """Draw the entries of a matrix by blocks: linking rows on top, then one block after the other.

    The figure is written to ``path``, if given, and returned.
    """
    from matplotlib.patches import Rectangle

    # Blocks in order, variables of the master last.
    last = len(partition.names)
    columns = np.argsort(np.where(partition.of_column == MASTER, last, partition.of_column), kind="stable")
    rows = np.argsort(partition.of_row, kind="stable")
    row_place, column_place = np.empty(len(rows)), np.empty(len(columns))
    row_place[rows], column_place[columns] = np.arange(len(rows)), np.arange(len(columns))
    figure = new_figure((6.0, 6.0 * min(max(len(rows) / max(len(columns), 1), 0.3), 1.5)))
    axes = figure.add_subplot()
    left, top = 0, int((partition.of_row == MASTER).sum())
    for number in range(last):
        width, height = int((partition.of_column == number).sum()), int((partition.of_row == number).sum())
        axes.add_patch(Rectangle((left - 0.5, top - 0.5), width, height, facecolor=FILL, edgecolor=COLOURS[0]))
        left, top = left + width, top + height
    entries = sparse.coo_array(matrix)
    side = float(np.clip(280.0 / max(matrix.shape), 0.5, 6.0))  # neighbours touch without overlap
    axes.plot(column_place[entries.col], row_place[entries.row], "s", color=COLOURS[0], markersize=side)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), xlabel="variables", ylabel="constraints")
    static = int((partition.of_column == MASTER).sum())
    axes.set_title(
        f"{plural(last, 'block')}, {plural(len(partition.linking), 'linking row')}"
        + (f", {plural(static, 'variable')} in the master" * bool(static))
    )
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure
