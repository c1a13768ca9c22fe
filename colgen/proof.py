"""A proof found beforehand: an answer and a bound on the relaxation, before there is a restricted master."""

from __future__ import annotations

from dataclasses import dataclass

from colgen.errors import DIAGNOSTIC_TOLERANCE, InvalidBoundError
from colgen.result import Certificate
from colgen.sense import Sense
from colgen.solution import Solution

_MET = 1e-9
"""A bound so near to an objective, relative to the larger of it and 1, meets it."""


@dataclass(frozen=True)
class Proof:
    """An answer, and a bound that holds for the root's relaxation as well as for all answers.

    Attributes
    ----------
    solution
        A whole solution that satisfies all rows, those that would be separated included: where the bound meets its
        objective it is believed without a look at the master.
    bound
        No solution of the relaxation is better.
    certificate
        Dual values that prove the bound, if there are any by the names of rows.
    """

    sense: Sense
    solution: Solution
    bound: float
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        objective = self.solution.objective
        if self.sense.is_better(objective, self.bound, DIAGNOSTIC_TOLERANCE * max(1.0, abs(objective))):
            raise InvalidBoundError(f"a proof states the bound {self.bound:g}, and an answer of {objective:g} beats it")

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the answer's objective, which is then the optimum of the relaxation as well."""
        objective = self.solution.objective
        return not self.sense.is_better(self.bound, objective, _MET * max(1.0, abs(objective)))
