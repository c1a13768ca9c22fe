"""Greedy labellings and simple bounds, used when a time limit is reached."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernel_calls import KernelCalls
from colgen.problems.chain_map.kernels.tree_labels import greedy_labels, score_labels
from colgen.solvers.chains.forest import NONE
from colgen.solvers.stopping import after

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

_GRACE_SECONDS, _SCORES_PER_CHECK = 0.03, 2**20
"""Seconds for greedy labelling after the deadline, and scores processed between two checks of the clock."""


def label_greedily(instance: ChainInstance, done: int, labels: Ints, values: Floats, bounds: Floats) -> None:
    """Label the trees from number ``done`` to the last greedily, with a bound that reads each score once.

    The arrays hold all nodes and all trees; ``NONE`` and -inf are written where no labelling was found.
    """
    forest, scores, pairwise = instance.forest, instance.scores, instance.pairwise
    pieces = KernelCalls(after(_GRACE_SECONDS))
    first, num = done, instance.num_trees
    while first < num and not pieces.stopped:
        end = int(np.searchsorted(forest.starts, forest.starts[first] + _SCORES_PER_CHECK // instance.num_labels))
        end = min(max(end, first + 1), num)
        greedy_labels(forest, scores, pairwise.rows, first, end, labels)
        a, b = int(forest.starts[first]), int(forest.starts[end])
        most = scores[a:b].max(axis=1).astype(float)
        inner = forest.parent[a:b] != NONE
        most[inner] += pairwise.highest[forest.table[a:b][inner]]
        bounds[first:end] = np.add.reduceat(most, forest.starts[first:end] - a)
        first = end
    # The remaining trees get the first label everywhere, and a bound from the magnitudes of the scores.
    labels[forest.starts[first] :] = 0
    lengths = np.diff(forest.starts[first:])
    bounds[first:] = lengths * instance.size + (lengths - 1) * pairwise.size
    found = np.empty(num)
    score_labels(forest, scores, pairwise.rows, labels, found)
    values[done:] = found[done:]
    labels[np.repeat(found == -np.inf, np.diff(forest.starts))] = NONE
    # The bounds and the value of a labelling that attains them may differ by rounding.
    bounds[done:] = np.maximum(bounds[done:], values[done:])
