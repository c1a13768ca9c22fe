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
from colgen.core.decision import Decision
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.numbers import require_result
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.text import Described


@dataclass(frozen=True, repr=False)
class SeparationContext(Described):
    """The data of a separation apart from the solution.

    Attributes
    ----------
    node, depth
        The branch-and-bound node and its depth; both are 0 at the root.
    round
        Number of rounds of the run so far.
    whole
        Whether the solution becomes a feasible solution if no row is violated.  A separation that defines feasibility
        must then find any violation.
    duals
        The master's dual values at the solution; None for other solutions.
    bound, incumbent
        The node's dual bound, and the incumbent's objective, possibly infinite.
    scale
        Scale of the objective, to which differences are relative.
    decisions
        The decisions in force at the node.
    budget
        The run's limits.  Long searches check ``budget.expired`` or call ``budget.require()``.

    Examples
    --------
    >>> class Late(RankOne):
    ...     def separate(self, solution, context):  # at the root, and not at integer solutions
    ...         return [] if context.depth or context.whole else super().separate(solution, context)
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
    decisions: tuple[Decision, ...] = ()

    @property
    def gap(self) -> float:
        """Relative gap between the incumbent and the node's bound; infinite if one is unknown."""
        gap = self.sense.gap(self.incumbent, self.bound)
        return math.inf if math.isnan(gap) else gap

    @property
    def deadline(self) -> float:
        """Value of ``time.monotonic()`` at which a long search should return."""
        return self.budget.deadline

    def seconds_left(self) -> float:
        """Return the seconds until the deadline: never negative, infinite without one, zero after an interrupt."""
        return self.budget.seconds_left


class Separation(Described, ABC):
    """Finds violated rows.  Subclasses implement :meth:`separate`.

    Rows must be valid for every feasible solution.  The engine accepts an integer solution if no separation finds a
    violated row.  So if rows *define* feasibility, :meth:`separate` must find a violated row for every infeasible
    integer solution.

    Attributes
    ----------
    every
        Separate at the root and at each ``every``-th level of the tree; 0: at the root only.  Integer solutions are
        separated everywhere.
    limit
        Maximum number of rows per round, the most violated first; None: no limit.
    exhaustive
        Whether every feasible solution satisfies the rows.  False if they may cut off solutions that are no better than
        the incumbent or another feasible solution.
    after_fixing
        Whether rows that change pricing wait at the root until reductions have been tried, if there is an incumbent.
        Pricing is then easier before these rows make it harder.

    Examples
    --------
    >>> class WholeRolls(Separation):
    ...     def separate(self, solution, context):
    ...         rolls = sum(value for _, value in solution.columns)
    ...         cut = Row("rolls", lower=math.ceil(rolls - 1e-6), coefficient=lambda column: 1.0)
    ...         return [cut] if rolls < cut.lower - 1e-6 else []
    """

    every: int = 1
    limit: int | None = None
    exhaustive: bool = True
    after_fixing: bool = False

    @property
    def name(self) -> str:
        """Name of the separation in messages."""
        return type(self).__name__

    def applies(self, depth: int) -> bool:
        """Return whether to separate fractional solutions at this depth."""
        return depth == 0 or (self.every > 0 and depth % self.every == 0)

    def suit(self, master: Any) -> None:
        """Raise an InputError if the rows are not valid for this restricted master."""

    def restore(self, key: Key, lower: float, upper: float) -> Row | None:
        """Return a row of this separation from another run of the instance, or None.

        Called for rows whose coefficients are functions, which files cannot store.  The default uses the family of this
        name among the separation's attributes.
        """
        for family in vars(self).values():
            if isinstance(family, RowFamily) and family.block == key[0]:
                return family.row(key[1], lower, upper)
        return None

    def restated(self, key: Key) -> Row | None:
        """Return a row of this name with sides for the present instance, or None.

        Called for rows of another run, perhaps of another instance.  The returned row is not verified, so it must not
        use numbers of that run.
        """
        return None

    @abstractmethod
    def separate(self, solution: Solution, context: SeparationContext) -> Sequence[Row]:
        """Return rows that ``solution`` violates, possibly none.

        Subclasses may omit the argument ``context``.
        """


def violated_rows(separator: Separation, solution: Solution, context: SeparationContext) -> Sequence[Row]:
    """Return the rows of a separation, with or without the context as argument."""
    method: Callable[..., Sequence[Row] | None] = separator.separate
    takes_context = _takes_context(getattr(method, "__func__", method), hasattr(method, "__self__"))
    rows = method(solution, context) if takes_context else method(solution)
    name, expected = f"{separator.name}.separate()", "a list of rows, [] for none"
    found = require_result(rows, name, expected)
    if not isinstance(found, Iterable):
        raise InputError(f"{name} returned a {type(found).__name__}, expected {expected}")
    several = list(found)  # it may be a generator, which can be read only once
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
