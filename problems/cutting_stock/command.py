"""Cutting stock on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from colgen import WarmStart
from colgen.cli.demonstration import demonstrations, solve_model
from colgen.cli.option import Number, Option
from colgen.cli.template import Template
from colgen.core.budget import Budget
from colgen.problems.cutting_stock.drawing import draw_plan
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, from_items, uniform, write
from colgen.problems.cutting_stock.model import full
from colgen.problems.cutting_stock.parts import Order, Use
from colgen.problems.cutting_stock.reading import read_order
from colgen.problems.cutting_stock.template import CuttingStock

_SHOWN = 30
"""Patterns shown to people; the JSON holds them all."""


_TEXTBOOK = CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211), "textbook, 4 widths")
"""The example of the textbooks: four widths, hundreds of pieces."""


def _problem(order: Order | CuttingStockInstance) -> CuttingStock:
    """The template with the parts that an order has; an instance has none."""
    if isinstance(order, CuttingStockInstance):
        return CuttingStock(order)
    return CuttingStock(order.instance, stock=order.stock, patterns=order.patterns, conflicts=order.conflicts)


def _lines(order: Order | CuttingStockInstance, answer: Sequence[Any]) -> list[str]:
    order = _as_order(order)
    plan = _plan(order, answer)
    width = len(f"{plan[0][1]:,}")
    lines = [
        f"{rolls:>{width},} x  {_on_roll(order, kind)}{_pieces(order, pattern, kind)}"
        for pattern, rolls, kind in plan[:_SHOWN]
    ]
    rest = plan[_SHOWN:]
    if rest:
        rolls = sum(rolls for _, rolls, _ in rest)
        lines.append(f"and {len(rest):,} more patterns for {rolls:,} rolls (--json writes all of them)")
    return lines


def _as_order(order: Order | CuttingStockInstance) -> Order:
    return Order(order) if isinstance(order, CuttingStockInstance) else order


def _on_roll(order: Order, kind: int) -> str:
    return "" if order.stock is None else f"{order.stock.widths[kind]}: "


def _pieces(order: Order, pattern: Pattern, kind: int) -> str:
    instance = order.instance
    pieces = [f"{copies} x {instance.widths[item]}" for item, copies in _widest_first(instance, pattern)]
    waste = _waste(order, pattern, kind)
    return " + ".join(pieces) + (f", waste {waste}" if waste else "")


def _data(order: Order | CuttingStockInstance, answer: Sequence[Any]) -> list[dict[str, Any]]:
    order = _as_order(order)
    instance = order.instance
    return [
        {
            "rolls": rolls,
            **({} if order.stock is None else {"kind": kind, "roll": order.stock.widths[kind]}),
            "pieces": [
                {"item": item, "width": instance.widths[item], "copies": copies}
                for item, copies in _widest_first(instance, pattern)
            ],
            "waste": _waste(order, pattern, kind),
        }
        for pattern, rolls, kind in _plan(order, answer)
    ]


def _plan(order: Order, answer: Sequence[Any]) -> list[Use]:
    """The answer, the most used patterns first."""
    return sorted(order.uses(answer), key=lambda use: (-use[1], use[2], use[0]))


def _widest_first(instance: CuttingStockInstance, pattern: Pattern) -> list[tuple[int, int]]:
    return sorted(pattern, key=lambda pair: -instance.widths[pair[0]])


def _waste(order: Order, pattern: Pattern, kind: int) -> int:
    return order.rolls.widths[kind] - sum(order.instance.widths[item] * copies for item, copies in pattern)


def _drawn(order: Order | CuttingStockInstance, answer: Sequence[Any]) -> Any:
    order = _as_order(order)
    uses = order.uses(answer)
    if order.stock is None:
        return draw_plan(order.instance, [use[:2] for use in uses])
    return draw_plan(order.instance, [use[:2] for use in uses], rolls=[order.stock.widths[kind] for _, _, kind in uses])


class _FromScratch(CuttingStock):
    """Starts without any pattern, so that every column shown is a generated one."""

    def warm_start(self, budget: Budget) -> WarmStart:
        return WarmStart(super().warm_start(budget).duals)


def _num_patterns(instance: CuttingStockInstance) -> int:
    """Return how many patterns there are, exactly: one count for each width in use, item by item."""
    ways = [1] + [0] * instance.roll
    for width, demand in zip(instance.widths, instance.demands, strict=True):
        for used in range(instance.roll, width - 1, -1):  # downwards: lower counts are still without this item
            ways[used] += sum(ways[used - c * width] for c in range(1, min(demand, used // width) + 1))
    return sum(ways) - 1  # not the empty one


_PIECES = (52, 48, 47, 45, 44, 41, 39, 38, 36, 35, 33, 31, 29, 27, 26, 24, 23, 21, 19, 17, 16, 14, 13, 12)

DEMO = demonstrations(
    lambda: _TEXTBOOK,
    lambda: from_items(100, _PIECES, "bin packing, 24 pieces"),
    lambda: replace(uniform(20, 4, roll=100, widths=(10, 70)), name="random, 20 widths"),
    small=lambda: from_items(10, [5, 3]),
    problem=_FromScratch,
    brute_force="arc flow in HiGHS",
    complete=lambda instance: solve_model(full(instance, "arc_flow"), decimals=0),
    possible=_num_patterns,
)

TEMPLATE = Template(
    name="cutting_stock",
    title="Cutting stock and bin packing: cut demanded widths from as few rolls as possible",
    source="Gilmore and Gomory (1961), Valério de Carvalho (1999)",
    problem=_problem,
    read=read_order,
    options={"problem": Option("which of the problems of a file of the OR-Library (1)", number=Number.WHOLE)},
    example=lambda path: write(_TEXTBOOK, path),
    reading=lambda order: _as_order(order).reading,
    lines=_lines,
    data=_data,
    draw=_drawn,
    variants={
        "stabilization": {
            "exchanges by ranks": lambda problem: CuttingStock(problem.instance, "ranks"),
            "exchanges by subsets": lambda problem: CuttingStock(problem.instance, "subsets"),
        }
    },
    demo=DEMO,
    compiling=8.0,
)
