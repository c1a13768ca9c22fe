"""Column enumeration: close a node by solving it over all columns that an answer of interest can use.

A restricted master solved as a mixed-integer program proves nothing, because columns are missing.  Once a node's bound
is near enough to the incumbent, though, few columns have a reduced cost small enough to be part of a better answer; if
all of them can be listed then the program over the list is exact.

Source: R. Baldacci, N. Christofides, A. Mingozzi, *An exact algorithm for the vehicle routing problem based on the set
partitioning formulation with additional cuts*, Mathematical Programming 115 (2008).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from colgen.bounds.fixing import ReductionContext
from colgen.core.columns import Column, Key
from colgen.core.solution import Solution

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
        (:mod:`solvers.packing.covering`), instead of by a mixed-integer program, which that outdoes by far where the
        gap leaves little to waste.
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
