"""The direction of optimisation, and comparisons that depend on it."""

from __future__ import annotations

import enum
import math

import numpy as np
from numpy.typing import NDArray

_NEARLY = 0.99
"""A tolerance this close to a step disables rounding: it would lower a bound with a small rounding error by a step."""

_SHARE, _DISTANCE = 0.25, 0.02
"""A node lags beyond this share of the gap, or at this distance from the best bound, relative to that bound."""


class Sense(enum.Enum):
    """Whether a problem minimises or maximises.

    Problems keep the sense of their Pyomo objective. Everything that depends on it uses this type: which objective is
    better, how much a reduced cost gains, in which direction a dual bound is rounded. The value is the factor that
    turns an objective into one to minimise.

    Examples
    --------
    >>> solve(problem).sense is Sense.MINIMIZE
    True
    """

    MINIMIZE = 1
    MAXIMIZE = -1

    sign: int
    """+1 to minimise, -1 to maximise: ``sign * objective`` is to be minimised."""
    ideal: float
    """The best possible objective, and the dual bound that proves nothing: -inf to minimise."""
    hopeless: float
    """The objective without an answer: +inf to minimise."""

    def __init__(self, sign: int) -> None:  # plain attributes, for speed
        self.sign = sign
        self.ideal = -sign * math.inf
        self.hopeless = sign * math.inf

    def improvement(self, new: float, old: float) -> float:
        """Return how much better ``new`` is than ``old``: positive if better."""
        if new == old:  # also equal infinities, whose difference is NaN
            return 0.0
        return self.sign * (old - new)

    def gains(self, reduced_costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the gain per unit of columns with these reduced costs: positive if they improve the master."""
        return -self.sign * reduced_costs

    def is_better(self, new: float, old: float, tolerance: float = 0.0) -> bool:
        """Whether ``new`` is better than ``old`` by more than ``tolerance``."""
        return self.improvement(new, old) > tolerance

    def lags(self, bound: float, best: float, objective: float) -> bool:
        """Return whether the bound of a node is so much worse than the best open one that the latter comes first.

        This is so from a quarter of the gap to the incumbent, as in SCIP (Achterberg 2007), or from 2% of the best
        bound. Without an incumbent no node lags.
        """
        if math.isinf(best) or math.isinf(objective):
            return False
        return self.improvement(best, bound) > min(_SHARE * self.improvement(best, objective), _DISTANCE * abs(best))

    def best(self, *values: float) -> float:
        """Return the best of some objectives; the weakest of dual bounds."""
        return min(values) if self.sign > 0 else max(values)

    def worst(self, *values: float) -> float:
        """Return the worst of some objectives; the tightest of dual bounds."""
        return max(values) if self.sign > 0 else min(values)

    def gap(self, objective: float, bound: float) -> float:
        """Return the relative gap ``|objective - bound| / |objective|``; infinite if either is.

        If the objective is zero and the bound is not, the gap is 1.
        """
        if math.isinf(objective) or math.isinf(bound):
            return math.inf
        difference = max(self.improvement(bound, objective), 0.0)
        return difference / abs(objective or bound) if difference else 0.0

    def round_bound(self, bound: float, step: float | None, tolerance: float) -> float:
        """Round a dual bound to the next multiple of ``step``, which divides every answer's objective.

        The bound is first relaxed by ``tolerance``, relative to the larger of its size and the step: a bound of 66 that
        is computed as 66.0000000001 stays 66, and 65.9999 becomes 66.
        """
        if step is None or math.isinf(bound):
            return bound
        slack = tolerance * max(abs(bound), step)
        if slack >= _NEARLY * step:  # steps are smaller than rounding errors: rounding could only weaken
            return bound
        units = math.ceil((self.sign * bound - slack) / step)
        return self.sign * units * step
