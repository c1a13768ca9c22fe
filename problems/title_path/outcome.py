"""The result of every method: a path with its bound and probability."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from colgen.core.text import percent
from colgen.problems.title_path.instance import Path


@dataclass(frozen=True)
class PathResult:
    """A path with a bound on all paths and the probability that it is the heaviest.

    Attributes
    ----------
    objective
        Weight of the path; -inf without a path.
    dual_bound
        Upper bound on the weight of all paths: +inf if nothing is known, -inf if there is provably no path.
    probability
        Lower bound on the probability that no path is heavier (or, without a path, that no path exists). It is 1 with a
        proof, follows from the number of iterations of colour coding, and is 0 if nothing is known. It remains valid
        after a time limit.
    priced
        Whether bounds of oracle calls, in rounds of the engine, ended the search.
    course
        For colour coding, the largest weight after each iteration.
    """

    method: str
    path: Path | None
    objective: float
    dual_bound: float = math.inf
    probability: float = 0.0
    finished: bool = True  # false after a limit or an interrupt
    seconds: float = 0.0  # from the instance to the result
    steps: int = 0  # iterations of colour coding, states, nodes or paths
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
        """``(dual_bound - objective) / max(|objective|, |dual_bound|)``; infinite if either number is."""
        if math.isinf(self.objective) or math.isinf(self.dual_bound):
            return 0.0 if self.is_infeasible else math.inf
        largest = max(abs(self.objective), abs(self.dual_bound))
        return max(self.dual_bound - self.objective, 0.0) / largest if largest else 0.0

    def __str__(self) -> str:
        if self.is_infeasible:
            known = "Proved infeasible: every path of this length repeats a class."
        elif self.is_optimal:
            known = "Proved optimal."
        elif self.probability:
            failure = 1.0 - self.probability
            known = (
                f"Optimal with probability at least 1 - {failure:.3g}." if failure else "Optimal with probability 1."
            )
        else:
            known = "Nothing is proved." if math.isinf(self.dual_bound) else f"Gap {percent(self.gap)}."
        found = "no path" if self.path is None else f"objective {self.objective:.10g}"
        return f"{self.method}: {known} {found}, dual bound {self.dual_bound:.10g}, {self.seconds:.3g} s"
