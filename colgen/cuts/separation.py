"""Separation: rows that the master's solution violates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from colgen.core.columns import Row
from colgen.core.solution import Solution


class Separation(ABC):
    """Finds violated rows.  Subclasses write :meth:`separate`.

    Rows must be valid for every answer of the problem.  If answers are *defined* by rows that are too many to write
    down, then :meth:`separate` must find a violated one for every whole solution that is not an answer: the engine
    trusts a whole solution once no separation objects.
    """

    @property
    def name(self) -> str:
        """What diagnostics call this separation."""
        return type(self).__name__

    @abstractmethod
    def separate(self, solution: Solution) -> Sequence[Row]:
        """Rows that ``solution`` violates, none if there are none."""
