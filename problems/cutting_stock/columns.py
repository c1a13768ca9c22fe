"""The base class of the three column models of cutting stock, and their rows.

=================  =====================================================  =============================================
:mod:`.patterns`   patterns on rolls of one width or several              every instance without the parts below
:mod:`.pieces`     sets of pieces, each an item of its own                ``conflicts``
:mod:`.runs`       patterns, each with its number of rolls                ``patterns``, a limit on different patterns
=================  =====================================================  =============================================
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from colgen import BranchingRule, Column, Method, Pricing, Rows, Separation, Solution, artificial
from colgen.core.budget import Budget
from colgen.core.lazy_imports import LazyModule
from colgen.core.warm_start import WarmStart
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Use

if TYPE_CHECKING:
    import pyomo.environ as pyo
else:
    pyo = LazyModule("pyomo.environ")


class ColumnModel(ABC):
    """A definition of the columns, with its pricing problems, branching, heuristics and first plans.

    Attributes
    ----------
    stock, kinds
        The useful kinds of rolls, numbered from 0, and their numbers in the instance.
    demands
        Right-hand sides of the demand rows.
    oracles
        The pricing problems.
    """

    demands: Sequence[int]
    oracles: Sequence[Pricing]

    def __init__(self, instance: CuttingStockInstance) -> None:
        self.instance = instance
        self.kinds = instance.rolls.useful
        self.stock = instance.rolls.only(self.kinds)

    def master(self) -> pyo.ConcreteModel | Rows:
        """Return the rows of items, limited kinds and patterns, with artificial variables and no columns."""
        m = pyo.ConcreteModel()
        m.item = pyo.RangeSet(0, len(self.demands) - 1)
        m.unmet = artificial(m.item)
        m.demand = pyo.Constraint(m.item, rule=lambda m, i: m.unmet[i] >= self.demands[i])
        limited = [k for k, limit in enumerate(self.stock.limits) if not math.isinf(limit)]
        if limited:
            m.kind = pyo.Set(initialize=limited)
            m.beyond = artificial(m.kind)
            m.supply = pyo.Constraint(m.kind, rule=lambda m, k: m.beyond[k] <= self.stock.limits[k])
        if self.instance.patterns is not None:
            m.superfluous = artificial()
            m.setups = pyo.Constraint(expr=m.superfluous <= self.instance.patterns)
        m.cost = pyo.Objective(expr=0, sense=pyo.minimize)
        return m

    @abstractmethod
    def branching(self) -> Sequence[BranchingRule]:
        """Return branching rules that together are complete."""

    def separation(self) -> Sequence[Separation]:
        return ()

    @abstractmethod
    def method(self) -> Method:
        """Return the solution method of the model."""

    @abstractmethod
    def warm_start(self, budget: Budget) -> WarmStart:
        """Return dual values and plans for the first master."""

    @abstractmethod
    def solution(self, uses: Iterable[Use]) -> Solution:
        """Return a plan as a solution of the master; its kinds have the numbers of the model."""

    @abstractmethod
    def uses(self, solution: Solution) -> list[Use]:
        """Return an integer solution of the master as a plan; its kinds have the numbers of the instance."""

    @abstractmethod
    def as_data(self, structure: Any) -> Any:
        """Return the structure of a column as plain data."""

    @abstractmethod
    def column_of(self, written: Any) -> Column | None:
        """Return the column of a stored structure, or None if the instance has no such column."""
