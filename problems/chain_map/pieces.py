"""Long calls of kernels made in pieces, between which there is a look at the budget."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]

_SECONDS = 0.03
"""How long a piece should last."""

_FIRST = 2**24
"""Operations of the first piece, whose speed is not known yet."""

_FASTER = 8.0
"""A piece has at most so many times the nodes of the one before."""


class Pieces:
    """Runs kernels piece by piece until the budget is used up.

    Parameters
    ----------
    expired
        Whether it is.
    """

    def __init__(self, expired: Callable[[], bool]) -> None:
        self._expired = expired

    @property
    def stopped(self) -> bool:
        return self._expired()

    def run(self, kernel: Callable[[int], None], nodes: int, operations: int) -> None:
        """Call a kernel with numbers of nodes that sum to ``nodes``; ``operations``: of a node, at worst."""
        size = max(1.0, _FIRST / operations)
        while nodes > 0 and not self._expired():
            piece = min(nodes, int(size))
            started = time.perf_counter()
            kernel(piece)
            size = _next(size, time.perf_counter() - started)
            nodes -= piece

    def run_trees(self, kernel: Callable[[Offsets], None], trees: Offsets, starts: Offsets, operations: int) -> int:
        """Call a kernel with some of the trees after the other; returns how many there was time for."""
        size, done = max(1.0, _FIRST / operations), 0
        ends = np.cumsum(starts[trees + 1] - starts[trees])
        while done < len(trees) and not self._expired():
            before = int(ends[done - 1]) if done else 0
            end = max(done + 1, int(np.searchsorted(ends, before + size, side="right")))
            started = time.perf_counter()
            kernel(trees[done:end])
            size = _next(size, time.perf_counter() - started)
            done = end
        return done


def _next(size: float, seconds: float) -> float:
    """How many nodes the next piece should have."""
    return max(1.0, size * min(_FASTER, _SECONDS / max(seconds, 1e-6)))
