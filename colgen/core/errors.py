"""Named diagnostics: what went wrong, which oracle or rule is to blame, and what to look at.

Every one of them is raised where continuing could end in a silently wrong answer.  ``solve`` attaches the best result
so far as ``error.result``.
"""

from __future__ import annotations

from typing import Any


class ColgenError(Exception):
    """Base of all diagnostics."""

    result: Any = None
    """The :class:`~colgen.Result` so far, where a run was under way: the best answer and bound."""


class InputError(ColgenError, ValueError):
    """An instance, a file or a setting is not what was expected."""


class FormulationError(ColgenError):
    """A Pyomo model cannot serve as a master: not linear, no objective, rows that no column can ever satisfy."""


class UnknownRowError(ColgenError):
    """A column or a row refers to something that the master does not have."""


class RepeatedColumnError(ColgenError):
    """An oracle returned, as improving, a column that the master already holds at a reduced cost of zero or worse."""


class ReducedCostError(ColgenError):
    """A column's cost and coefficients give another reduced cost than its oracle stated."""


class InvalidBoundError(ColgenError):
    """A stated bound cannot be true: the master's objective or the incumbent beats the dual bound that it implies."""


class OracleBeatenError(ColgenError):
    """An oracle claims a bound that a column known to the master beats: it is not exact."""


class ChildBoundError(ColgenError):
    """A node's relaxation is better than its parent's bound: the parent's bound or the branching rule is wrong."""


class DecisionViolatedError(ColgenError):
    """An oracle returned a column that the node's branching decisions forbid."""


class BranchingError(ColgenError):
    """A branching rule makes no progress, or its reconstruction of an answer does not hold."""


class SeparationError(ColgenError):
    """A separation returned a row that the solution does not violate."""


class UnpricedCutError(ColgenError):
    """A cut's dual value changes the pricing problem in a way that one of the oracles does not know."""


class InfeasibleAnswerError(ColgenError):
    """What is offered as an answer violates a row, is not whole, or has another objective than it states."""


class SolverError(ColgenError):
    """A linear program could not be solved: not warm, not from a fresh start, not with another tolerance."""
