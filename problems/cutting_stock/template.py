"""Cutting stock on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from colgen import (
    BranchingRule,
    Column,
    Directional,
    Diving,
    Formulation,
    InputError,
    Method,
    Pricing,
    Problem,
    Sense,
    Separation,
    Solution,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import WarmStart
from colgen.model.formulation import Block
from colgen.problems.cutting_stock.bound import round_exactly
from colgen.problems.cutting_stock.branching import OnArcFlow, PatternArcFixing
from colgen.problems.cutting_stock.dual_feasible import dual_feasible
from colgen.problems.cutting_stock.enumeration import PatternEnumeration
from colgen.problems.cutting_stock.exchanges import EXCHANGES
from colgen.problems.cutting_stock.fitting import first_fit_decreasing
from colgen.problems.cutting_stock.heuristics import PlanRounding, as_solution
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern
from colgen.problems.cutting_stock.layout import PatternLayout
from colgen.problems.cutting_stock.model import master
from colgen.problems.cutting_stock.parts import AtMost, Conflicts, Order, Stock
from colgen.problems.cutting_stock.pricing import PatternOracle
from colgen.problems.cutting_stock.proof import PlanCertifier
from colgen.problems.cutting_stock.variants import handed_on, variant_of
from colgen.problems.cutting_stock.waste import DivingFirst, FullRollCuts, FullRolls

if TYPE_CHECKING:
    import pyomo.environ as pyo


class CuttingStock(Problem[list[tuple[Pattern, int]]]):
    """Cutting stock by column generation and, where rounding leaves a gap, branching on arc flows.

    The answer is a list of ``(pattern, rolls)``, a pattern being a tuple of ``(item, copies)``.

    Parameters
    ----------
    exchanges
        Dual-optimal inequalities by name, ``"ranks"`` or ``"subsets"``
        (:mod:`colgen.problems.cutting_stock.exchanges`); None: without.  They save a third of a relaxation's rounds and
        seconds.  Whole instances of 201 and 402 items take two thirds of the time, but of hard28 some take twice as
        long and others half: a root solved by other columns leads to another tree.
    stock
        Rolls of several widths, their costs and supplies; the instance's roll is the widest.  An answer's entries are
        then ``(pattern, rolls, kind)``, with the number of the roll's width in the stock.
    patterns
        At most so many different patterns; with none of the other parts.
    conflicts
        Pairs of items that may not be cut from one roll.

    Notes
    -----
    Stock, patterns and conflicts change the program: each has rows, pricing problems, branching rules and heuristics of
    its own (:mod:`colgen.problems.cutting_stock.variants`), which this template hands on.
    """

    objective_step: float | None = 1.0  # rolls are whole: a bound of 452.25 proves 453

    def __init__(
        self,
        instance: CuttingStockInstance,
        exchanges: str | None = None,
        *,
        stock: Stock | None = None,
        patterns: AtMost | None = None,
        conflicts: Conflicts | None = None,
    ) -> None:
        if exchanges is not None and exchanges not in EXCHANGES:
            raise InputError(f"exchanges: expected 'ranks', 'subsets' or None, not {exchanges!r}")
        self._order = Order(instance, stock, patterns, conflicts)
        self.variant = variant_of(self._order)
        if self.variant is not None:
            if exchanges is not None:
                raise InputError("exchanges are known for rolls of one width alone, without conflicts or limits")
            self.objective_step = self.variant.objective_step
        self.instance = instance
        self.exchanges = () if exchanges is None else EXCHANGES[exchanges](instance)
        self.layout = PatternLayout(instance)
        self.oracle = PatternOracle(self.layout)

    @handed_on
    def master(self) -> pyo.ConcreteModel:
        return master(self.instance, self.exchanges)

    @handed_on
    def shape(self) -> Hashable:
        # Without exchanges the rows depend on the number of items alone: compiled once, given the demands after.
        return self.instance.num_items, self.exchanges

    def shape_data(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        return {"row_lower": {"demand": self.instance.demands}}

    def formulation(self) -> Formulation:
        if self.variant is not None:
            return super().formulation()
        # What compiling the model gives, without Pyomo, which takes a good part of a second for a thousand items.
        n, trades = self.instance.num_items, len(self.exchanges)
        indices, numbers = tuple(range(n)), tuple(range(trades))
        entries = [(i, i, 1.0) for i in indices]
        for k, (whole, parts) in enumerate(self.exchanges, n):
            entries += [(whole, k, -1.0), *((part, k, 1.0) for part in parts)]
        there, owners, values = zip(*entries, strict=True)
        rows = Formulation(
            sense=Sense.MINIMIZE,
            matrix=sparse.csc_array((values, (there, owners)), shape=(n, n + trades)),
            costs=np.zeros(n + trades),
            lower=np.zeros(n + trades),
            upper=np.full(n + trades, np.inf),
            integer=np.zeros(n + trades, dtype=bool),
            artificial=np.ones(n + trades, dtype=bool),
            row_lower=np.zeros(n),
            row_upper=np.full(n, np.inf),
            offset=0.0,
            column_keys=(*(("unmet", i) for i in indices), *(("cut_down", k) for k in numbers)),
            row_keys=tuple(("demand", i) for i in indices),
            row_blocks={"demand": Block("demand", indices, np.arange(n))},
            column_blocks={"unmet": Block("unmet", indices, np.arange(n))},
        )
        if trades:
            rows = dataclasses.replace(
                rows,
                column_blocks={**rows.column_blocks, "cut_down": Block("cut_down", numbers, n + np.arange(trades))},
                exchange=np.arange(n + trades) >= n,
            )
        return rows.with_data(**self.shape_data())

    @handed_on
    def pricing(self) -> Pricing | Sequence[Pricing]:
        return self.oracle

    @handed_on
    def method(self) -> Method:
        rounding = PlanRounding(self.instance, self.oracle)
        first = DivingFirst(self.layout, 8, rounding)
        return Method(
            # Many patterns a round leave little to smooth, so lightly and by a constant; a little of the subgradient,
            # which is what demands lack, saves a third of the rounds.
            stabilization=Directional(0.3, beta=0.1),
            heuristics=(rounding, first, Diving(8, proper="demand", polish=rounding)),
            reductions=(FullRolls(self.layout), PatternArcFixing(self.layout, self.oracle)),
            enumeration=PatternEnumeration(self.instance, self.oracle),
            rounding=partial(round_exactly, self.oracle),
        )

    @handed_on
    def branching(self) -> Sequence[BranchingRule]:
        return (OnArcFlow(self.layout, self.oracle),)

    @handed_on
    def separation(self) -> Sequence[Separation]:
        return (FullRollCuts(self.oracle),)

    @handed_on
    def warm_start(self, budget: Budget) -> WarmStart:
        # What pricing needs is laid out, or refused, before any other work.
        with contextlib.suppress(OutOfBudget):
            self.layout.lay_network(budget.require)
        # An item is worth about the share of a roll that it takes, or what a dual-feasible function makes of that:
        # priced, it proves the material bound or a better one.
        duals = {"demand": [float(value) for value in dual_feasible(self.instance)]}
        return WarmStart(duals, (as_solution(first_fit_decreasing(self.instance), self.oracle),))

    @handed_on
    def certifier(self) -> Certifier:
        if type(self).formulation is not CuttingStock.formulation or type(self).master is not CuttingStock.master:
            return super().certifier()  # a subclass has rows of its own
        instance = self.instance
        return PlanCertifier(self.layout, instance.demands, instance.widths, instance.name)

    @handed_on
    def codec(self) -> Codec | None:
        return Codec(self._read)

    def _read(self, data: Any) -> Column | None:
        instance = self.instance
        cut = [(int(item), int(copies)) for item, copies in data if 0 <= item < instance.num_items]
        # No more than what is demanded today.
        pattern = tuple((item, min(copies, instance.demands[item])) for item, copies in cut)
        several = len({item for item, _ in pattern}) < len(pattern)
        if several or sum(instance.widths[item] * copies for item, copies in pattern) > instance.roll:
            return None
        return self.oracle.encode(pattern) if pattern and all(copies > 0 for _, copies in pattern) else None

    @property
    def identity(self) -> Any:
        """The instance, and what it is given besides."""
        return self._order

    @handed_on
    def answer(self, solution: Solution) -> list[tuple[Pattern, int]]:
        return [(column.structure, round(rolls)) for column, rolls in solution.columns]

    @handed_on
    def check(self, answer: Iterable[tuple[Pattern, int]]) -> float:
        try:
            return float(self.instance.check(answer))
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None
