"""Cutting stock on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from colgen import (
    BranchingRule,
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
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.renamed import refuse_old
from colgen.core.warm_start import WarmStart
from colgen.model.formulation import Block
from colgen.problems.cutting_stock.columns import ColumnModel
from colgen.problems.cutting_stock.exchanges import EXCHANGES, Exchange
from colgen.problems.cutting_stock.instance import CuttingStockInstance
from colgen.problems.cutting_stock.patterns import PatternModel
from colgen.problems.cutting_stock.proof import PlanCertifier

if TYPE_CHECKING:
    import pyomo.environ as pyo


class CuttingStock(Problem[list[Any]]):
    """Cutting stock by column generation and, where rounding leaves a gap, branching.

    The answer is a list of ``(pattern, rolls)``, a pattern being a tuple of ``(item, copies)``.  Where the instance has
    a stock its entries are ``(pattern, rolls, kind)``, with the number of the roll's width in the stock.

    Parameters
    ----------
    instance
        Items and rolls; perhaps conflicts, or a limit on the number of patterns.
    exchanges
        Dual-optimal inequalities by name, ``"ranks"`` or ``"subsets"``
        (:mod:`colgen.problems.cutting_stock.exchanges`), for rolls of one width without conflicts or limits; None:
        without.  They save a third of a relaxation's rounds and seconds.  Integer instances of 201 and 402 items take
        two thirds of the time, but of hard28 some take twice as long and others half: a root solved by other columns
        leads to another tree.

    Attributes
    ----------
    model
        What a column stands for, chosen by the parts of the instance (:mod:`colgen.problems.cutting_stock.columns`).
    """

    def __init__(self, instance: CuttingStockInstance, exchanges: str | None = None, **old: Any) -> None:
        refuse_old(CuttingStock, old)
        if exchanges is not None and exchanges not in EXCHANGES:
            raise InputError(f"exchanges: expected 'ranks', 'subsets' or None, not {exchanges!r}")
        if exchanges is not None and not instance.is_plain:
            raise InputError("exchanges are known for rolls of one width alone, without conflicts or limits")
        self.instance = instance
        self.model: ColumnModel = model_of(instance, () if exchanges is None else EXCHANGES[exchanges](instance))
        self.objective_step = self.model.stock.step  # a bound of 452.25 proves 453 rolls

    def master(self) -> pyo.ConcreteModel:
        return self.model.master()

    def shape(self) -> Hashable | None:
        # Without exchanges the rows depend on the number of items alone: compiled once, given the demands after.
        return (self.instance.num_items, self.model.exchanges) if self._plain is not None else None

    def shape_data(self) -> Mapping[str, Mapping[str, Sequence[int]]]:
        return {"row_lower": {"demand": self.instance.demands}}

    def formulation(self) -> Formulation:
        if self._plain is None:
            return super().formulation()
        # What compiling the model gives, without Pyomo, which takes a good part of a second for a thousand items.
        n, trades = self.instance.num_items, len(self.model.exchanges)
        indices, numbers = tuple(range(n)), tuple(range(trades))
        entries = [(i, i, 1.0) for i in indices]
        for k, (whole, parts) in enumerate(self.model.exchanges, n):
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

    def pricing(self) -> Sequence[Pricing]:
        return self.model.oracles

    def method(self) -> Method:
        return self.model.method()

    def branching(self) -> Sequence[BranchingRule]:
        return self.model.branching()

    def separation(self) -> Sequence[Separation]:
        return self.model.separation()

    def warm_start(self, budget: Budget) -> WarmStart:
        return self.model.warm_start(budget)

    def certifier(self) -> Certifier:
        plain, kind, instance = self._plain, type(self), self.instance
        own_rows = kind.formulation is not CuttingStock.formulation or kind.master is not CuttingStock.master
        if plain is None or own_rows or not instance.is_plain:
            return super().certifier()
        return PlanCertifier(plain.layout, instance.demands, instance.widths, instance.name)

    @property
    def _plain(self) -> PatternModel | None:
        """The model of rolls of one width at a cost of 1, for which more is known; None where it is another one."""
        return self.model if isinstance(self.model, PatternModel) and self.model.plain else None

    def codec(self) -> Codec:
        return Codec(self.model.column_of, self.model.written)

    def answer(self, solution: Solution) -> list[Any]:
        uses = self.model.uses(solution)
        return uses if self.instance.stock is not None else [(pattern, rolls) for pattern, rolls, _ in uses]

    def check(self, answer: Iterable[Sequence[Any]]) -> float:
        try:
            return float(self.instance.check(answer))
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None


def model_of(instance: CuttingStockInstance, exchanges: tuple[Exchange, ...] = ()) -> ColumnModel:
    """Return the model of an instance."""
    # Imported when it is needed: most instances have neither conflicts nor a limit on patterns.
    if instance.conflicts:
        from colgen.problems.cutting_stock.pieces import PieceModel

        return PieceModel(instance)
    if instance.patterns is not None:
        from colgen.problems.cutting_stock.runs import RunModel

        return RunModel(instance)
    return PatternModel(instance, exchanges)
