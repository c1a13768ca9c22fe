"""Cutting stock on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from colgen import (
    BranchingRule,
    Column,
    Directional,
    Diving,
    InputError,
    Method,
    Pricing,
    Problem,
    Rows,
    Separation,
    Solution,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget, OutOfBudget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.warm_start import WarmStart
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
    def master(self) -> pyo.ConcreteModel | Rows:
        return master(self.instance, self.exchanges)

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
