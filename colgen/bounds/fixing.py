"""Reduced-cost fixing: what can be forbidden below a node because no better answer uses it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from colgen.core.budget import Budget
from colgen.core.decision import Decision
from colgen.core.sense import Sense
from colgen.core.tolerances import TOLERANCES, size


@dataclass(frozen=True)
class ReductionContext:
    """What is proved at a node.

    Attributes
    ----------
    duals
        The dual values at which ``bound`` was proved.
    bound
        The node's dual bound, before any rounding.
    target
        An answer is of interest only if its objective is at least as good as this: the incumbent's, one step better
        where objectives have a step.
    decisions
        In force at the node.
    scale
        What differences of objectives are relative to.
    budget
        What the run may spend: what can last looks at it.
    """

    sense: Sense
    duals: Any
    bound: float
    target: float
    decisions: tuple[Decision, ...]
    scale: float = 1.0
    budget: Budget = field(default_factory=Budget)

    @property
    def slack(self) -> float:
        """What an answer of interest can afford: it uses no column that worsens the bound by more than this."""
        rounding = TOLERANCES.pruning * size(self.scale, self.bound, self.target)
        return self.sense.improvement(self.bound, self.target) + rounding


class Reduction(ABC):
    """Finds decisions that keep every answer of interest in a node.  Subclasses write :meth:`reduce`.

    The decisions are added to the node and passed to its children, and the relaxation is solved again.
    """

    @abstractmethod
    def reduce(self, context: ReductionContext) -> Sequence[Decision]:
        """Decisions that no answer of interest violates; empty if nothing worth a new relaxation is found."""
