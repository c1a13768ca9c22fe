"""Long calls of kernels made in pieces, between which there is a look at the budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import OutOfBudget
from colgen.core.result import Termination
from colgen.solvers.stopping import Pace

Offsets = NDArray[np.int64]

_SECONDS = 0.015
"""How long a piece should last."""

_FIRST = 2**21
"""Operations of the first piece, whose speed is not known yet: these may be writing pairs to new memory."""

_FASTER = 2.0
"""A piece has at most so many times the nodes of the one before."""


class KernelCalls:
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

    def require(self) -> None:
        """Raise OutOfBudget if it is used up."""
        if self._expired():
            raise OutOfBudget(Termination.TIME_LIMIT)

    def run(self, kernel: Callable[[int], None], nodes: int, operations: int) -> None:
        """Call a kernel with numbers of nodes that sum to ``nodes``; ``operations``: of a node, at worst."""
        pace = Pace(max(1.0, _FIRST / operations), _SECONDS, _FASTER)
        while nodes > 0 and not self._expired():
            piece = min(nodes, int(pace.work))
            pace.start()
            kernel(piece)
            pace.stop()
            nodes -= piece

    def run_trees(
        self, kernel: Callable[[Offsets, float], None], trees: int, enough: Callable[[], bool] = lambda: False
    ) -> int:
        """Call a kernel that goes on where it has stopped, with a position to rewrite and a number of operations.

        Returns how many of so many trees there was time for, or were ``enough``, which is asked only between trees:
        what is left half done, because there is no time, has to be done anew.
        """
        position = np.zeros(2, dtype=np.int64)
        pace = Pace(_FIRST, _SECONDS, _FASTER)
        while position[0] < trees and not self._expired() and (position[1] > 0 or not enough()):
            pace.start()
            kernel(position, pace.work)
            pace.stop()
        return int(position[0])
