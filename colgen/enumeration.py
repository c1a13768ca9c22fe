"""Column enumeration: all columns that a better answer can use, for a final mixed-integer program."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from colgen.branching.rules import Bound
from colgen.core.columns import Column, Key
from colgen.core.errors import InputError
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES, size
from colgen.fixing import ReductionContext
from colgen.pricing.labelling import Labelling

_NO_SIDES: Mapping[Key, tuple[float, float]] = {}


@dataclass(frozen=True)
class Enumerated:
    """All columns that an answer of interest can use.

    Attributes
    ----------
    columns
        Complete: if the node holds an answer of interest then it holds one made of these.
    sides
        Sides that replace those of rows, where they lose no answer of interest (or not all of them): equations instead
        of inequalities make mixed-integer programs easier.  Rows may also be relaxed, with infinite sides; then
        :meth:`Enumeration.complete` must make up for it.
    values
        Where rows are ≥ 1 and coefficients 1: dual values of the rows, at which the columns' reduced costs are small.
        Whether columns cover the rows is then searched depth first by what they waste at these values
        (:mod:`colgen.solvers.packing.covering`), instead of by a mixed-integer program, which that outdoes by far where
        the gap leaves little to waste.
    """

    columns: Sequence[Column]
    sides: Mapping[Key, tuple[float, float]] = field(default_factory=lambda: _NO_SIDES)
    values: Mapping[Key, float] | None = None


class Enumeration(ABC):
    """Lists columns by their reduced cost.  Subclasses write :meth:`enumerate`.

    Attributes
    ----------
    seconds
        For the program over the list; the node is branched on if they do not suffice.
    """

    seconds: float = 20.0

    @property
    def name(self) -> str:
        """What diagnostics call this enumeration."""
        return type(self).__name__

    @abstractmethod
    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        """All columns that answers of interest can use (``context.slack`` says how many that are); None if too many."""

    def complete(self, solution: Solution) -> Solution | None:
        """Mend a solution of the enumerated program in rows that were relaxed; None if that is not possible."""
        return solution


class PathEnumeration(Enumeration):
    """All elementary paths within the gap, of those that visit the same vertices the cheapest.

    A path can be replaced by a cheaper one over the same vertices, in any answer.  Branching rows on arcs may not
    survive that: they are left out of the program, whose answers are then answers of the whole problem, and as good as
    the node's best at least.

    Parameters
    ----------
    oracle
        Whose paths touch no rows but those of their vertices, and of their number.
    limit
        At most so many paths.
    seconds
        For the program over the list.
    effort
        For the list: see :meth:`colgen.solvers.paths.labelling.Labelling.enumerate`.

    Raises
    ------
    InputError
        If arcs touch rows of the master: paths over the same vertices are then not the same.

    References
    ----------
    R. Baldacci, N. Christofides, A. Mingozzi, *An exact algorithm for the vehicle routing problem based on the set
    partitioning formulation with additional cuts*, Mathematical Programming 115 (2008).
    """

    def __init__(self, oracle: Labelling, limit: int = 20_000, seconds: float = 30.0, effort: float = 5e9) -> None:
        if oracle.arc_rows:
            raise InputError(
                "PathEnumeration: expected an oracle without arc_rows, which tell apart paths over the same vertices"
            )
        self.oracle = oracle
        self.limit = limit
        self.seconds = seconds
        self.effort = effort

    def enumerate(self, context: ReductionContext) -> Enumerated | None:
        rounding = TOLERANCES.optimality * size(context.scale, context.bound)
        told = replace(context.pricing, slack=context.slack + rounding)
        columns = self.oracle.listed(context.duals, told, self.limit, self.effort)
        if columns is None:
            return None
        sides: dict[Key, tuple[float, float]] = {
            decision.key: (-math.inf, math.inf)
            for decision in context.decisions
            if isinstance(decision, Bound) and decision.key[0] == self.oracle.block and decision.row() is not None
        }
        return Enumerated(columns, sides)
