"""A proof found beforehand: an answer and a bound on the relaxation, before there is a restricted master."""

from __future__ import annotations

from dataclasses import dataclass

from colgen.core.errors import InvalidBoundError
from colgen.core.result import Certificate
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import ROUNDING, TOLERANCES, size


@dataclass(frozen=True)
class Proof:
    """An answer, and a bound that holds for the root's relaxation as well as for all answers.

    Attributes
    ----------
    solution
        A whole solution that satisfies all rows, those that would be separated included.  The engine checks it: by the
        problem's own check if there is one, by the master's rows otherwise.
    bound
        No solution of the relaxation is better.
    scale
        What differences of objectives are relative to, as :attr:`Problem.scale`; their own size if it is 0.
    offset
        A part that all objectives share and that they are not relative to, which hides nothing.
    certificate
        Dual values that prove the bound, if there are any by the names of rows.
    """

    sense: Sense
    solution: Solution
    bound: float
    certificate: Certificate | None = None
    scale: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        objective = self.solution.objective
        if self.sense.is_better(objective, self.bound, TOLERANCES.diagnostic * size(self.scale, objective)):
            raise InvalidBoundError(f"a proof states the bound {self.bound:g}, and an answer of {objective:g} beats it")

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the answer's objective, which is then the optimum of the relaxation as well."""
        objective = self.solution.objective
        tolerance = TOLERANCES.pruning * size(self.scale, objective - self.offset) + ROUNDING * abs(self.offset)
        return not self.sense.is_better(self.bound, objective, tolerance)
