"""Separation: rows that the master's solution violates."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from colgen.core.budget import Budget
from colgen.core.columns import Key, Row, RowFamily
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.numbers import returned
from colgen.core.sense import Sense
from colgen.core.solution import Solution


@dataclass(frozen=True)
class SeparationContext:
    """Everything besides the solution that a separation may want to know.

    Attributes
    ----------
    sense
        Direction of the objective.
    node, depth
        The branch-and-bound node, and its depth; 0 and 0 at the root.
    round
        Rounds of the run so far.
    whole
        Whether the solution would be taken for an answer if no row is violated: a separation that defines what an
        answer is may not miss one then.
    duals
        The master's dual values at the solution; None where an answer is checked that no master has solved for.
    bound, incumbent
        The dual bound of the node, and the objective of the best answer; infinite where there is none.
    scale
        What differences of objectives are relative to.
    budget
        What the run may spend: a search that can last looks at ``budget.expired``, or calls ``budget.require()``.
    """

    sense: Sense
    node: int = 0
    depth: int = 0
    round: int = 0
    whole: bool = False
    duals: OwnDuals = None
    bound: float = math.nan
    incumbent: float = math.nan
    scale: float = 1.0
    budget: Budget = field(default_factory=Budget)

    @property
    def gap(self) -> float:
        """Relative gap between the incumbent and the node's bound; infinite where one is not known."""
        gap = self.sense.gap(self.incumbent, self.bound)
        return math.inf if math.isnan(gap) else gap

    @property
    def deadline(self) -> float:
        """Value of ``time.monotonic()`` at which a long search should return what it has."""
        return self.budget.deadline

    def seconds_left(self) -> float:
        """Seconds until the deadline, never negative; infinite if there is none, zero after an interrupt."""
        return self.budget.seconds_left


class Separation(ABC):
    """Finds violated rows.  Subclasses write :meth:`separate`.

    Rows must be valid for every answer of the problem.  If answers are *defined* by rows that are too many to write
    down, then :meth:`separate` must find a violated one for every whole solution that is not an answer: the engine
    trusts a whole solution once no separation objects.

    Attributes
    ----------
    every
        Separate at the root and then at each ``every``-th level of the tree; 0: at the root alone.  Solutions that
        would be answers are looked at everywhere.
    limit
        So many rows are added a round at most, those that are violated most first; None: all that are found.
    exhaustive
        Whether every answer satisfies the rows.  False where some answers need not that are no better than the
        incumbent, or than another answer that does.
    """

    every: int = 1
    limit: int | None = None
    exhaustive: bool = True

    @property
    def name(self) -> str:
        """What diagnostics call this separation."""
        return type(self).__name__

    def applies(self, depth: int) -> bool:
        """Whether to separate fractional solutions at this depth."""
        return depth == 0 or (self.every > 0 and depth % self.every == 0)

    def suit(self, master: Any) -> None:
        """Refuse a restricted master for which the rows are not valid; asked before the first node.

        Raises
        ------
        InputError
            Naming what the separation expects of the master's rows.
        """

    def revived(self, key: Key, lower: float, upper: float) -> Row | None:
        """A row that this separation has found in another run of the same instance, None if it is none of its own.

        Asked for rows that state their coefficients by function, which no file holds.  By default a family of rows of
        that name among the separation's attributes states it.
        """
        for family in vars(self).values():
            if isinstance(family, RowFamily) and family.block == key[0]:
                return family.row(key[1], lower, upper)
        return None

    def restated(self, key: Key) -> Row | None:
        """A row of this name for the present instance, its sides computed anew; None if it is none of this separation.

        Asked for the rows of another run, maybe of another instance: what comes back is believed, so that no number of
        the other run may be in it.
        """
        return None

    @abstractmethod
    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        """Rows that ``solution`` violates, none if there are none.

        A method of one argument, the solution, will do where the context is of no interest.
        """


def violated_rows(separator: Separation, solution: Solution, context: SeparationContext) -> Sequence[Row]:
    """What a separation returns, whether its method takes the context or not."""
    method: Callable[..., Sequence[Row] | None] = separator.separate
    takes_context = _takes_context(getattr(method, "__func__", method), hasattr(method, "__self__"))
    rows = method(solution, context) if takes_context else method(solution)
    name, expected = f"{separator.name}.separate()", "a list of rows, [] for none"
    found = returned(rows, name, expected)
    if not isinstance(found, Iterable):
        raise InputError(f"{name} returned a {type(found).__name__}, expected {expected}")
    several = list(found)  # of a generator, too, which can be read only once
    for row in several:
        if not isinstance(row, Row):
            raise InputError(f"{name} returned a {type(row).__name__} among its rows, expected Row objects only")
    return several


@lru_cache(maxsize=1024)
def _takes_context(function: Callable[..., Any], is_method: bool) -> bool:
    parameters = list(inspect.signature(function).parameters.values())[is_method:]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > 1
