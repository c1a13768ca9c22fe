"""Named diagnostics: what went wrong, which oracle or rule caused it, and what to check.

Each is raised where continuing could give a wrong answer. ``solve`` attaches the best result so far as
``error.result``.
"""

from __future__ import annotations

from typing import Any


class ColgenError(Exception):
    """Base of all diagnostics.

    Examples
    --------
    >>> try:
    ...     solve(problem, time_limit=-1)
    ... except ColgenError as error:
    ...     print(type(error).__name__, error)
    InputError time_limit: expected a number of at least 0.0, got -1
    """

    result: Any = None
    """The :class:`~colgen.Result` so far with the best answer and bound; None if no run was under way."""


class InputError(ColgenError, ValueError):
    """An instance, a file or an option is not what was expected.

    Examples
    --------
    >>> try:
    ...     GapLimit(-1.0)
    ... except InputError as error:
    ...     print(error)
    GapLimit.gap: expected a number of at least 0.0, got -1.0
    """


class FormulationError(ColgenError):
    """A model cannot be a master: it is not linear, has no objective, or has rows that no column can satisfy."""


class UnknownRowError(ColgenError):
    """A column or row refers to a name that the master does not have."""


class RepeatedColumnError(ColgenError):
    """An oracle returned as improving a column that the master already has, with a reduced cost of zero or worse."""


class ReducedCostError(ColgenError):
    """The reduced cost computed from a column's cost and coefficients differs from the oracle's."""


class InvalidBoundError(ColgenError):
    """An oracle's bound is wrong: the master's objective or the incumbent is better than the implied dual bound."""


class OracleBeatenError(ColgenError):
    """An oracle is not exact: a column of the master is better than the bound that the oracle claims."""


class ChildBoundError(ColgenError):
    """A node's relaxation is better than its parent's bound: the parent's bound or the branching rule is wrong."""


class DecisionViolatedError(ColgenError):
    """An oracle returned a column that the node's branching decisions forbid."""


class BranchingError(ColgenError):
    """A branching rule makes no progress, or reconstructs an invalid answer."""


class SeparationError(ColgenError):
    """A separation returned a row that the solution does not violate."""


class UnpricedCutError(ColgenError):
    """A cut changes the pricing problem by a term that one of the oracles cannot price."""


class InfeasibleAnswerError(ColgenError):
    """A proposed answer violates a row, is not integer, or has another objective than stated.

    Examples
    --------
    >>> try:
    ...     solve(problem, start=WarmStart(answers=[Solution(0.0)]))
    ... except InfeasibleAnswerError as error:
    ...     print(error)
    start returned an infeasible solution: row ('demand', 0) has activity 0, expected 97 to inf
    """


class SolverError(ColgenError):
    """A linear program could not be solved: not warm, not from scratch, not with another tolerance."""
