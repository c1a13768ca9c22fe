"""The direction of optimisation: the one place that knows which way is better."""

from __future__ import annotations

import enum
import math

import numpy as np
from numpy.typing import NDArray

_NEARLY = 0.99
"""A tolerance of a whole step, less rounding, would take a step off a bound that floating point delivers a hair off."""


class Sense(enum.Enum):
    """Whether a problem minimises or maximises.

    Problems keep the sense of their Pyomo objective.  Everything that depends on it asks this type: which of two
    objectives is better, how much a reduced cost gains, in which direction a dual bound may be rounded.  The enum's
    value is the factor that turns an objective into one to be minimised.
    """

    MINIMIZE = 1
    MAXIMIZE = -1

    sign: int
    """+1 for minimise, -1 for maximise: ``sign * objective`` is to be minimised."""
    ideal: float
    """The objective that nothing can beat, and so the dual bound that proves nothing: -inf for minimise."""
    hopeless: float
    """The objective of having no answer at all: +inf for minimise."""

    def __init__(self, sign: int) -> None:  # plain attributes: a round reads them hundreds of times
        self.sign = sign
        self.ideal = -sign * math.inf
        self.hopeless = sign * math.inf

    def improvement(self, new: float, old: float) -> float:
        """How much better ``new`` is than ``old``: positive if it is better."""
        if new == old:  # also equal infinities, whose difference is not a number
            return 0.0
        return self.sign * (old - new)

    def gains(self, reduced_costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """How much columns of these reduced costs improve the master, per unit: positive if they do."""
        return -self.sign * reduced_costs

    def is_better(self, new: float, old: float, tolerance: float = 0.0) -> bool:
        """Whether ``new`` is better than ``old`` by more than ``tolerance``."""
        return self.improvement(new, old) > tolerance

    def best(self, *values: float) -> float:
        """The best of some objectives; of dual bounds, the weakest."""
        return min(values) if self.sign > 0 else max(values)

    def worst(self, *values: float) -> float:
        """The worst of some objectives; of dual bounds, the tightest."""
        return max(values) if self.sign > 0 else min(values)

    def gap(self, objective: float, bound: float) -> float:
        """Relative gap of a bound: ``|objective - bound| / |objective|``, infinite if either is.

        Beside an objective of zero any bound that proves less leaves a gap of one.
        """
        if math.isinf(objective) or math.isinf(bound):
            return math.inf
        difference = max(self.improvement(bound, objective), 0.0)
        return difference / abs(objective or bound) if difference else 0.0

    def round_bound(self, bound: float, step: float | None, tolerance: float) -> float:
        """Tighten a dual bound to the next multiple of ``step``, of which every answer's objective is a multiple.

        A bound is first relaxed by ``tolerance`` (relative to its size, or to a step where that is larger): a true
        value of exactly 66 that floating point delivers as 66.0000000001 must stay 66, and one of 65.9999 becomes 66,
        as it should.
        """
        if step is None or math.isinf(bound):
            return bound
        slack = tolerance * max(abs(bound), step)
        if slack >= _NEARLY * step:  # numbers so large that the steps between them drown: rounding could only weaken
            return bound
        units = math.ceil((self.sign * bound - slack) / step)
        return self.sign * units * step
