"""Cutting stock on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from colgen import (
    BranchingRule,
    InputError,
    Method,
    Pricing,
    Problem,
    Rows,
    Separation,
    Solution,
)
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.renamed import refuse_old
from colgen.core.warm_start import WarmStart
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

    def master(self) -> pyo.ConcreteModel | Rows:
        return self.model.master()

    def pricing(self) -> Pricing | Sequence[Pricing]:
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
        plain, instance = self._plain, self.instance
        if plain is None or not instance.is_plain:
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
