"""Best partitions of few items, by a dynamic program over their subsets.

The best value of a set is the largest of the value of a cluster with its last item plus the best value of the rest.
With n items this takes O(3ⁿ) time and O(2ⁿ) space.

Source: T. Sandholm and others, *Coalition structure generation with worst case guarantees*, Artificial Intelligence 111
(1999), which describes D. Y. Yeh's dynamic program (1986).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen.solvers.arrays import ArrayError, as_floats
from colgen.solvers.kernels import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST = 12
"""Maximum number of items."""


def best_small_partition(scores: ArrayLike) -> tuple[float, Ints]:
    """Return the value of the best partition, and its cluster number for each item.

    Parameters
    ----------
    scores : (items, items) array, whose entries [i, j] with i < j count if both items are in one cluster; -inf forbids
        it.  The others are ignored.

    Raises
    ------
    ArrayError
        If the scores are invalid, or there are more than :data:`LARGEST` items.
    """
    pairs = as_floats(scores, "scores", shape=("items", "items"), minus_infinity=True)
    if len(pairs) > LARGEST:
        raise ArrayError(f"scores: expected at most {LARGEST} items, got {len(pairs)}")
    labels = np.zeros(len(pairs), dtype=np.int64)
    values, best = np.zeros(1 << len(pairs)), np.zeros(1 << len(pairs))
    last = np.zeros(1 << len(pairs), dtype=np.int64)
    return _solve(pairs, values, best, last, labels), labels


@kernel
def _solve(scores: Floats, values: Floats, best: Floats, last: Ints, labels: Ints) -> float:
    """Fill the values of clusters, the best values of sets and their last clusters; write the best labels."""
    n, top = len(scores), 0
    for members in range(1, 1 << n):
        if members == 2 << top:
            top += 1
        rest = members ^ (1 << top)
        value = values[rest]
        for i in range(top):
            if rest >> i & 1:
                value += scores[i, top]
        values[members] = value
        best[members], last[members] = best[rest], 1 << top
        part = rest
        while part:
            total = values[part | 1 << top] + best[rest ^ part]
            if total > best[members]:
                best[members], last[members] = total, part | 1 << top
            part = (part - 1) & rest
    left, number = (1 << n) - 1, 0
    while left:
        for i in range(n):
            if last[left] >> i & 1:
                labels[i] = number
        number += 1
        left ^= last[left]
    total_value: float = best[(1 << n) - 1]
    return total_value
