"""The cutting stock problem, to solve, copy or subclass."""

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
    """Cutting stock by column generation, with branching where rounding leaves a gap.

    The answer is a list of ``(pattern, rolls)``; a pattern is a tuple of ``(item, copies)``.  If the instance has a
    stock, the entries are ``(pattern, rolls, kind)`` with the index of the roll's width in the stock.

    Parameters
    ----------
    instance
        Items and rolls, and optionally conflicts or a limit on the number of patterns.
    exchanges
        Dual-optimal inequalities, ``"ranks"`` or ``"subsets"`` (:mod:`colgen.problems.cutting_stock.exchanges`), for
        rolls of one width without conflicts or limits.  Relaxations then need 1/3 fewer rounds and seconds.  Integer
        instances of 201 and 402 items take 2/3 of the time.  Some instances of hard28 take twice as long and others
        half, because other columns at the root lead to another tree.

    Attributes
    ----------
    model
        Columns, pricing and heuristics for this kind of instance (:mod:`colgen.problems.cutting_stock.columns`).
    """

    def __init__(self, instance: CuttingStockInstance, exchanges: str | None = None, **old: Any) -> None:
        refuse_old(CuttingStock, old)
        if exchanges is not None and exchanges not in EXCHANGES:
            raise InputError(f"exchanges: expected 'ranks', 'subsets' or None, not {exchanges!r}")
        if exchanges is not None and not instance.is_plain:
            raise InputError("exchanges need rolls of one width, without conflicts or a limit on patterns")
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
        model, instance = self.model, self.instance
        if not instance.is_plain or not isinstance(model, PatternModel):
            return super().certifier()
        return PlanCertifier(model.layout, instance.demands, instance.widths, instance.name)

    def codec(self) -> Codec:
        return Codec(self.model.column_of, self.model.as_data)

    def answer(self, solution: Solution) -> list[Any]:
        uses = self.model.uses(solution)
        return uses if self.instance.stock is not None else [(pattern, rolls) for pattern, rolls, _ in uses]

    def check(self, answer: Iterable[Sequence[Any]]) -> float:
        try:
            return float(self.instance.check(answer))
        except ValueError as error:
            raise InfeasibleAnswerError(str(error)) from None


def model_of(instance: CuttingStockInstance, exchanges: tuple[Exchange, ...] = ()) -> ColumnModel:
    """Return the column model of an instance."""
    # Lazy imports: most instances have neither conflicts nor a limit on patterns.
    if instance.conflicts:
        from colgen.problems.cutting_stock.pieces import PieceModel

        return PieceModel(instance)
    if instance.patterns is not None:
        from colgen.problems.cutting_stock.runs import RunModel

        return RunModel(instance)
    return PatternModel(instance, exchanges)
