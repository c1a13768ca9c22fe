"""Cutting stock on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from colgen.cli.template import Template, form_of, whole_number
from colgen.core.result import Result
from colgen.problems.cutting_stock.demo import bin_packing, textbook, twenty_widths
from colgen.problems.cutting_stock.drawing import draw_plan
from colgen.problems.cutting_stock.instance import CuttingStockInstance, Pattern, write
from colgen.problems.cutting_stock.parts import Order, Use
from colgen.problems.cutting_stock.reading import read_order
from colgen.problems.cutting_stock.template import CuttingStock

_SHOWN = 30
"""Patterns shown to people; the JSON holds them all."""


def _read(path: Path, **options: str) -> Order:
    return read_order(path, problem=whole_number(options, "problem", 1) if "problem" in options else None)


def _problem(order: Order | CuttingStockInstance) -> CuttingStock:
    """The template with the parts that an order has; an instance has none."""
    if isinstance(order, CuttingStockInstance):
        return CuttingStock(order)
    return CuttingStock(order.instance, stock=order.stock, patterns=order.patterns, conflicts=order.conflicts)


def _lines(order: Order | CuttingStockInstance, result: Result) -> list[str]:
    order = _as_order(order)
    plan = _plan(order, result)
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


def _data(order: Order | CuttingStockInstance, result: Result) -> list[dict[str, Any]]:
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
        for pattern, rolls, kind in _plan(order, result)
    ]


def _plan(order: Order, result: Result) -> list[Use]:
    """The answer, the most used patterns first."""
    return sorted(order.uses(result.answer), key=lambda use: (-use[1], use[2], use[0]))


def _widest_first(instance: CuttingStockInstance, pattern: Pattern) -> list[tuple[int, int]]:
    return sorted(pattern, key=lambda pair: -instance.widths[pair[0]])


def _waste(order: Order, pattern: Pattern, kind: int) -> int:
    return order.rolls.widths[kind] - sum(order.instance.widths[item] * copies for item, copies in pattern)


def _drawn(order: Order | CuttingStockInstance, result: Result) -> Any:
    order = _as_order(order)
    uses = order.uses(result.answer)
    if order.stock is None:
        return draw_plan(order.instance, [use[:2] for use in uses])
    return draw_plan(order.instance, [use[:2] for use in uses], rolls=[order.stock.widths[kind] for _, _, kind in uses])


TEMPLATE = Template(
    name="cutting_stock",
    title="Cutting stock and bin packing: cut demanded widths from as few rolls as possible",
    source="Gilmore and Gomory (1961), Valério de Carvalho (1999)",
    read=_read,
    form=form_of(read_order),
    read_options={"problem": "which of the problems of a file of the OR-Library (1)"},
    reading=lambda order: _as_order(order).reading,
    problem=_problem,
    lines=_lines,
    data=_data,
    draw=_drawn,
    demo=(textbook, bin_packing, twenty_widths),
    compiling=1.0,
    with_exchanges={
        "exchanges by ranks": lambda problem: CuttingStock(problem.instance, "ranks"),
        "exchanges by subsets": lambda problem: CuttingStock(problem.instance, "subsets"),
    },
    example=lambda path: write(CuttingStockInstance(100, (45, 36, 31, 14), (97, 610, 395, 211)), path),
)
