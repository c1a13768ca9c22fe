"""Long kernel calls, split into pieces with a check of the budget between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from colgen.core.budget import OutOfBudget
from colgen.core.result import Termination
from colgen.solvers.stopping import Pace

Offsets = NDArray[np.int64]

_SECONDS = 0.015
"""Target duration of a piece."""

_FIRST_OPERATIONS = 2**21
"""Operations of the first piece, whose speed is unknown: it may write pairs to new memory."""

_MAX_GROWTH = 2.0
"""Largest ratio of the work of a piece to that of the piece before."""


class KernelCalls:
    """Run kernels piece by piece until ``expired`` returns true."""

    def __init__(self, expired: Callable[[], bool]) -> None:
        self._expired = expired

    @property
    def stopped(self) -> bool:
        return self._expired()

    def require(self) -> None:
        """Raise OutOfBudget if the budget is used up."""
        if self._expired():
            raise OutOfBudget(Termination.TIME_LIMIT)

    def run(self, kernel: Callable[[int], None], nodes: int, operations: int) -> None:
        """Call a kernel with numbers of nodes that sum to ``nodes``, each with at most ``operations``."""
        pace = Pace(max(1.0, _FIRST_OPERATIONS / operations), _SECONDS, _MAX_GROWTH)
        while nodes > 0 and not self._expired():
            piece = min(nodes, int(pace.work))
            pace.start()
            kernel(piece)
            pace.stop()
            nodes -= piece

    def run_trees(
        self, kernel: Callable[[Offsets, float], None], trees: int, enough: Callable[[], bool] = lambda: False
    ) -> int:
        """Call a resumable kernel repeatedly with a position, which it updates, and a number of operations.

        ``enough`` is called between trees and ends the calls early. Return the number of finished trees. A tree that is
        interrupted by the budget has to be done again.
        """
        position = np.zeros(2, dtype=np.int64)
        pace = Pace(_FIRST_OPERATIONS, _SECONDS, _MAX_GROWTH)
        while position[0] < trees and not self._expired() and (position[1] > 0 or not enough()):
            pace.start()
            kernel(position, pace.work)
            pace.stop()
        return int(position[0])
