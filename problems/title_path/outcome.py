"""What every method returns: the path, and what is known of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from colgen.core.text import percent
from colgen.problems.title_path.instance import Path


@dataclass(frozen=True)
class PathResult:
    """A path, and how good it is known to be.

    Attributes
    ----------
    method
        Who found it.
    path
        None if no path was found.
    objective
        Weight of the path, minus infinity without one.
    dual_bound
        No path weighs more: plus infinity if nothing is known, minus infinity if it is proved that there is no path.
    probability
        With at least this probability no path is heavier (if none was found: there is none): 1 with a proof, what
        colour coding states, 0 if nothing is known.  A cut in time does not make it wrong.
    finished
        False where a limit or an interrupt came first.
    seconds
        From the instance to the answer.
    steps
        Iterations of colour coding, states, nodes or paths looked at, whichever the method counts.
    priced
        Whether the engine has priced an oracle that states the bound that ends the search.
    course
        Weight of the heaviest path after each iteration, of colour coding.
    """

    method: str
    path: Path | None
    objective: float
    dual_bound: float = math.inf
    probability: float = 0.0
    finished: bool = True
    seconds: float = 0.0
    steps: int = 0
    course: Sequence[float] = ()
    priced: bool = False

    @property
    def is_optimal(self) -> bool:
        """Whether the path is proved to be the heaviest."""
        return self.path is not None and self.dual_bound <= self.objective

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proved that there is no path of this length."""
        return self.path is None and self.dual_bound == -math.inf

    @property
    def gap(self) -> float:
        """``(dual_bound - objective) / max(|objective|, |dual_bound|)``, infinite if either is."""
        if math.isinf(self.objective) or math.isinf(self.dual_bound):
            return 0.0 if self.is_infeasible else math.inf
        largest = max(abs(self.objective), abs(self.dual_bound))
        return max(self.dual_bound - self.objective, 0.0) / largest if largest else 0.0

    def __str__(self) -> str:
        if self.is_infeasible:
            known = "Proved infeasible: no path of this length visits no class twice."
        elif self.is_optimal:
            known = "Proved optimal."
        elif self.probability:
            failure = 1.0 - self.probability
            known = f"Optimal with probability 1 - {failure:.3g} or more." if failure else "Optimal with probability 1."
        else:
            known = "Nothing is proved." if math.isinf(self.dual_bound) else f"Gap {percent(self.gap)}."
        found = "no path" if self.path is None else f"objective {self.objective:.10g}"
        return f"{self.method}: {known} {found}, dual bound {self.dual_bound:.10g}, {self.seconds:.3g} s"
